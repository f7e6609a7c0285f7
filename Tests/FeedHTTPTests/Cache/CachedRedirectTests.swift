import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

/// Redirects through a cache: each hop is stored separately.
@Suite(.settled) struct CachedRedirectTests {
  private func redirect(_ status: Int, _ target: String, _ control: String) -> CacheWorld.Answer {
    .response(status, [("Location", target), ("Cache-Control", control)])
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a fresh stored redirect is followed without a request`(status: Int) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(status, "/b", "max-age=10"), .response(200, [("Cache-Control", "max-age=5")])]
      for body in ["body 1", "body 1"] {
        let got = world.get(path: "/a")
        #expect(got.body == body && got.url?.path() == "/b")
        #expect(got.redirects.map(\.status) == [status])
      }
      #expect(world.origin.requests.map { $0.url.path() } == ["/a", "/b"])
      #expect(world.origin.requests.allSatisfy { !$0.followsRedirects })
      world.wait(5)
      world.get(path: "/a")
      #expect(world.origin.requests.map { $0.url.path() } == ["/a", "/b", "/b"])
    }
  }

  @Test func `a redirect without freshness information is stored only if it is permanent`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let fields = [("Location", "/b"), ("Last-Modified", "{-1000}")]
      world.origin.answers = [.response(302, fields), .response(200, []), .response(301, fields), .response(200, [])]
      for _ in 0..<3 { world.get(path: "/a") }
      #expect(world.origin.requests.map { $0.url.path() } == ["/a", "/b", "/a", "/b", "/b"])
    }
  }

  @Test func `without followsRedirects, the cached redirect is delivered`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(301, "/b", "max-age=10")]
      var request = world.request()
      request.followsRedirects = false
      #expect(world.get(request).status == 301)
      #expect(world.get(request).headers["Age"] == "0")
      #expect(world.origin.requests.count == 1)
    }
  }

  @Test func `a stored redirect without its body isn't delivered as a response`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(301, "/b", "max-age=10"), .response(200, [("Cache-Control", "max-age=10")])]
      #expect(world.get().status == 200)
      #expect(world.origin.requests.map(\.skipsRedirectBodies) == [true, true])
      world.origin.answers = [redirect(301, "/b", "max-age=10")]
      var request = world.request()
      request.followsRedirects = false
      #expect(world.get(request).status == 301)
      #expect(world.origin.requests.map(\.skipsRedirectBodies) == [true, true, false])
      // A whole redirect can be followed, too.
      #expect(world.get().redirects.count == 1)
      #expect(world.get(request).status == 301)
      #expect(world.origin.requests.count == 3)
    }
  }

  @Test func `ten cached redirects are followed, and no more`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(302, "/", "max-age=10")]
      #expect(world.get().error == .tooManyRedirects(limit: 10))
      #expect(world.origin.requests.count == 1, "the loop is in the store")
    }
  }

  @Test func `credentials aren't sent to another origin that a cached redirect leads to`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(302, "https://other.example/b", "no-store"), .response(200, [])]
      world.get(("Authorization", "x"), ("Cookie", "x"), ("X-Key", "x"), ("Accept", "text/a"))
      #expect(world.origin.requests[1].headers.map(\.name) == ["Accept"])
      #expect(world.origin.requests[1].url.absoluteString == "https://other.example/b")
    }
  }

  @Test(arguments: ["ftp://example.com/", "file:///etc/passwd", "http://"])
  func `a cached redirect to anything but HTTP is refused`(target: String) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(302, target, "no-store")]
      #expect(world.get().error == .redirectRefused)
    }
  }

  @Test func `a cached redirect from https to http is refused`() throws {
    let secure = try #require(URL(string: "https://example.com/"))
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(302, "http://example.com/b", "no-store")]
      #expect(world.get(HTTPRequest(secure)).error == .redirectRefused)
    }
  }

  @Test func `all hops of a redirect share the request's timeout`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(302, "/b", "no-store"), .response(200, [])]
      world.origin.latency = 12
      world.get()
      #expect(world.origin.requests.map(\.timeout) == [.seconds(30), .seconds(18)])
    }
  }

  @Test(arguments: [3600.0, -3600])
  func `setting the clock doesn't change a redirected request's timeout`(step: Double) {
    withVirtualTime { time in
      let clock = CacheWorld.Clock()
      let world = CacheWorld(time, clock: clock)
      world.origin.answers = [redirect(302, "/b", "no-store"), .response(200, [])]
      world.origin.latency = 12
      let pending = world.begin(world.request())
      world.wait(1)
      clock.error = step
      time.run()
      #expect(pending.value.status == 200)
      #expect(world.origin.requests.map(\.timeout) == [.seconds(30), .seconds(18)])
    }
  }

  @Test(arguments: [
    (CacheWorld.Answer.response(200, []), "the limit is 30 seconds"),
    // The connection times out although the request has time left.
    (.failure(.timedOut(.connect)), ""),
  ])
  func `a timeout after a redirect names the whole request's limit if that limit has passed`(
    answer: CacheWorld.Answer, expected: String
  ) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [redirect(302, "/b", "no-store"), answer]
      world.origin.latency = .milliseconds(15_500)
      var cause = ""
      let getting = world.client.get(world.request()).sink { completion in
        if case .failure(let error) = completion { cause = error.cause }
      } receiveValue: { _ in
      }
      world.wait(15)
      world.origin.latency = expected.isEmpty ? 1 : 20
      time.run()
      #expect(world.origin.requests.map(\.timeout) == [.seconds(30), .milliseconds(14_500)])
      #expect(cause == expected)
      getting.cancel()
    }
  }
}
