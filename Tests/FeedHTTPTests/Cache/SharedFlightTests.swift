import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

/// Several requests that share a response, and the effect of cancelling them.
@Suite(.settled) struct SharedFlightTests {
  private let fresh = ("Cache-Control", "max-age=10")

  @Test func `equal requests in flight share one request to the server`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [fresh])]
      world.origin.latency = 2
      let all = (0..<4).map { _ in world.begin(world.request()) }
      time.run()
      #expect(all.allSatisfy { $0.value.body == "body 0" && $0.value.isOver })
      #expect(world.origin.requests.count == 1)
    }
  }

  @Test func `requests that differ, or need validation, aren't shared`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [fresh])]
      world.origin.latency = 2
      var requests = [
        world.request(), world.request([("Foo", "1")]), world.request([], "/other"),
        world.request([("Cache-Control", "no-cache")]), world.request([("If-None-Match", "x")]),
        world.request([("Range", "bytes=0-")]), world.request([("Cache-Control", "no-store")]),
      ]
      for proxy in [HTTPProxy.none, .url(URL(string: "http://proxy.example")!)] {
        requests.append(world.request())
        requests[requests.count - 1].proxy = proxy
      }
      for host in ["a.example", "b.example"] {
        requests.append(world.request())
        requests[requests.count - 1].origin = URL(string: "http://\(host)/feed")
      }
      let all = requests.map { world.begin($0) }
      time.run()
      #expect(all.allSatisfy { $0.value.status == 200 })
      #expect(world.origin.requests.count == requests.count)
    }
  }

  @Test func `requests that began at different times share the request after a redirect`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(301, [fresh, ("Location", "/new")]), .response(200, [fresh])]
      world.origin.latency = 2
      let all = (0..<10).map { _ in
        defer { world.wait(0.1) }
        return world.begin(world.request([], "/old"))
      }
      time.run()
      #expect(all.allSatisfy { $0.value.body == "body 1" && $0.value.isOver })
      #expect(world.origin.requests.map { $0.url.path() } == ["/old", "/new"])
    }
  }

  @Test func `a request doesn't wait for one that has more time left`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(301, [fresh, ("Location", "/new")]), .response(200, [fresh])]
      world.origin.latency = 20
      let early = world.begin(world.request([], "/old"))
      world.wait(19)
      let late = world.begin(world.request([], "/new"))
      world.origin.latency = 5
      time.run()
      #expect(early.value.status == 200 && late.value.status == 200)
      #expect(world.origin.requests.map(\.timeout) == [.seconds(30), .seconds(30), .seconds(10)])
    }
  }

  @Test func `a request that waits for another one doesn't fail with that one's timeout`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let moved = CacheWorld.Answer.response(301, [fresh, ("Location", "/new")])
      world.origin.answers = [moved, .response(200, [fresh]), moved, .response(200, [fresh])]
      world.origin.latency = 29
      let early = world.begin(world.request([], "/old"))
      world.wait(29.1)
      // Its redirect leads to the same URL, whose request has less than a second left.
      world.origin.latency = 0.1
      let late = world.begin(world.request([], "/other"))
      world.wait(0.05)
      world.origin.latency = 2
      time.run()
      #expect(early.value.error == .timedOut(.response) && late.value.status == 200 && late.value.isOver)
      #expect(world.origin.requests.map { $0.url.path() } == ["/old", "/new", "/other", "/new"])
      #expect(world.origin.requests.map(\.timeout) == [.seconds(30), .seconds(1), .seconds(30), .milliseconds(29_100)])
    }
  }

  @Test func `a request with little time left isn't sent again when the one that it waits for times out`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [fresh])]
      world.origin.latency = 31
      let early = world.begin(world.request())
      world.wait(0.005)
      let late = world.begin(world.request())
      time.run()
      #expect([early, late].allSatisfy { $0.value.error == .timedOut(.response) && $0.value.isOver })
      #expect(world.origin.requests.count == 1)
    }
  }

  @Test(arguments: [[], [("Cache-Control", "no-store")], [("Cache-Control", "no-cache")]] as [[(String, String)]])
  func `a response that may not be shared is requested separately by each subscriber`(fields: [(String, String)]) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, fields)]
      world.origin.latency = 2
      let all = (0..<3).map { _ in world.begin(world.request()) }
      time.run()
      #expect(Set(all.map(\.value.body)) == ["body 0", "body 1", "body 2"])
      // The time that passed while they waited counts.
      #expect(world.origin.requests.map(\.timeout) == [.seconds(30), .seconds(28), .seconds(28)])
      #expect(all.allSatisfy { $0.value.isOver })
    }
  }

  @Test func `a failure of a shared request reaches all subscribers`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.failure(.connect)]
      world.origin.latency = 2
      let all = (0..<3).map { _ in world.begin(world.request()) }
      // The script fails immediately, before the other requests arrive, so nothing is shared.
      time.run()
      #expect(all.allSatisfy { $0.value.error == .connect })
    }
  }

  @Test func `a shared request is cancelled with its last subscriber`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [fresh])]
      world.origin.latency = 2
      let first = world.begin(world.request())
      let second = world.begin(world.request())
      first.subscription?.cancel()
      #expect(world.origin.cancelled == 0)
      time.run()
      #expect(second.value.body == "body 0" && second.value.isOver)
      #expect(first.value.status == nil && !first.value.isOver)
      world.wait(20)
      let third = world.begin(world.request())
      third.subscription?.cancel()
      #expect(world.origin.cancelled == 1)
      #expect(world.get().body == "body 2")
    }
  }

  @Test func `no request is made before a value is requested`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      var subscription: (any Subscription)?
      var received = 0
      world.client.get(world.request()).subscribe(
        AnySubscriber<HTTPResponse, HTTPError> {
          subscription = $0
        } receiveValue: { _ in
          received += 1
          return .none
        } receiveCompletion: { _ in
        })
      time.run()
      #expect(world.origin.requests.isEmpty)
      subscription?.request(.max(1))
      time.run()
      #expect(received == 1)
    }
  }

  @Test func `a failing store is reported, and the response is still delivered`() {
    struct Broken: HTTPCacheStore {
      func responses(
        for key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool
      ) -> AnyPublisher<[HTTPStoredResponse], HTTPCacheError> {
        Fail(error: HTTPCacheError("cannot read")).eraseToAnyPublisher()
      }
      func change(
        _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, to change: HTTPCacheChange
      ) -> AnyPublisher<Never, HTTPCacheError> {
        Fail(error: HTTPCacheError("cannot write")).eraseToAnyPublisher()
      }
    }
    withVirtualTime { time in
      let world = CacheWorld(time, store: Broken())
      world.origin.answers = [.response(200, [fresh])]
      let got = world.get()
      #expect(got.body == "body 0" && got.isOver)
      // The request doesn't wait for the store a second time.
      #expect(world.reported == [.storeFailed(HTTPCacheError("cannot read")), .missed])
    }
  }

  @Test func `a response that was requested before a change isn't stored after it`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [fresh], "old"), .response(200, []), .response(200, [fresh], "new")]
      world.origin.latency = 2
      let early = world.begin(world.request())
      world.wait(1)
      world.origin.latency = 0
      var post = world.request()
      post.method = .post
      let change = world.begin(post)
      world.wait(0.5)
      #expect(change.value.isOver && early.value.status == nil)
      // A later request doesn't wait for the early one's response.
      #expect(world.get().body == "new")
      #expect(early.value.body == "old" && early.value.isOver)
      #expect(world.get().body == "new")
      #expect(world.origin.requests.count == 3)
      #expect(world.reported.filter { $0 == .stored }.count == 1)
    }
  }
}
