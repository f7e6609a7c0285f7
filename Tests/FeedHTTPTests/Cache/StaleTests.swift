import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedHTTP

/// The use of stale responses: RFC 9111, section 4.2.4, and RFC 5861.
@Suite(.settled) struct StaleTests {
  private let tag = ("ETag", "\"abc\"")

  /// The world `wait` seconds after one response, with the next responses.
  private func world(
    _ time: VirtualTimeScheduler, _ control: String, wait: Double = 5, then answers: CacheWorld.Answer...,
    configure: (inout HTTPCacheOptions) -> Void = { _ in }
  ) -> CacheWorld {
    let world = CacheWorld(time, configure)
    world.origin.answers = [.response(200, [("Cache-Control", control), tag], "old")] + answers
    world.get()
    world.wait(wait)
    return world
  }

  // MARK: stale-while-revalidate

  @Test func `stale-while-revalidate delivers the stale response, and revalidates it in the background`() {
    withVirtualTime { time in
      let world = world(
        time, "max-age=1, stale-while-revalidate=10", then: .response(200, [("Cache-Control", "max-age=100")], "new"))
      world.origin.latency = 2
      let pending = world.begin(world.request())
      #expect(pending.value.body == "old" && pending.value.isOver, "before the server answers")
      #expect(pending.value.headers["Age"] == "5")
      #expect(world.origin.requests[1].values(of: "If-None-Match") == ["\"abc\""])
      time.run()
      #expect(world.get().body == "new")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `simultaneous stale deliveries revalidate once`() {
    withVirtualTime { time in
      let world = world(time, "max-age=1, stale-while-revalidate=10", then: .notModified([]))
      world.origin.latency = 2
      let all = (0..<5).map { _ in world.begin(world.request()) }
      #expect(all.allSatisfy { $0.value.body == "old" && $0.value.isOver })
      time.run()
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a request that must not be stale waits for the running revalidation`() {
    withVirtualTime { time in
      let world = world(
        time, "max-age=1, stale-while-revalidate=10", wait: 10.5,
        then: .response(200, [("Cache-Control", "max-age=100")], "new"))
      world.origin.latency = 2
      _ = world.begin(world.request())
      time.advance(by: 1)
      let late = world.begin(world.request())
      #expect(!late.value.isOver, "after its window")
      time.run()
      #expect(late.value.body == "new")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test(arguments: [
    ("max-age=1, stale-while-revalidate=4", "its window is over"),
    ("max-age=1, stale-while-revalidate=10, must-revalidate", "must-revalidate forbids it"),
    ("max-age=1, stale-while-revalidate=10, no-cache", "no-cache forbids it"),
    ("max-age=1, stale-while-revalidate=x", "it is malformed"),
    ("max-age=1, stale-while-revalidate", "it has no value"),
    ("max-age=1, stale-while-revalidate=-5", "it is negative"),
  ])
  func `outside stale-while-revalidate's conditions, no stale response is delivered`(control: String, why: String) {
    withVirtualTime { time in
      let world = world(time, control, then: .response(200, [], "new"))
      #expect(world.get().body == "new", "\(why)")
    }
  }

  @Test(arguments: ["no-cache", "max-age=100", "min-fresh=0"])
  func `a request for a fresh response doesn't get a stale one`(request: String) {
    withVirtualTime { time in
      let world = world(time, "max-age=1, stale-while-revalidate=10", then: .response(200, [], "new"))
      #expect(world.get(("Cache-Control", request)).body == "new")
    }
  }

  @Test func `a failed revalidation keeps the stored response`() {
    withVirtualTime { time in
      let world = world(
        time, "max-age=1, stale-while-revalidate=100", then: .failure(.connect), .response(500, []), .notModified([]))
      for _ in 0..<3 { #expect(world.get().body == "old") }
      #expect(world.origin.requests.count == 4)
    }
  }

  @Test func `a revalidation continues without subscribers, and keeps its client alive`() {
    withVirtualTime { time in
      let store = MemoryHTTPCache()
      var world: CacheWorld? = CacheWorld(time, store: store)
      let origin = world!.origin
      origin.answers = [
        .response(200, [("Cache-Control", "max-age=1, stale-while-revalidate=10")]),
        .response(200, [("Cache-Control", "max-age=10")]),
      ]
      world!.get()
      world!.wait(5)
      origin.latency = 2
      world!.begin(world!.request()).subscription?.cancel()
      world = nil
      time.run()
      #expect(origin.requests.count == 2 && origin.cancelled == 0)
      let later = CacheWorld(time, store: store)
      #expect(later.get().body == "body 1")
      #expect(later.origin.requests.isEmpty)
    }
  }

  // MARK: stale-if-error

  @Test(arguments: [
    CacheWorld.Answer.response(500, []), .response(502, []), .response(503, []), .response(504, []),
    .failure(.connect), .failure(.nameResolution), .failure(.receive), .failure(.truncated), .failure(.send),
    .failure(.timedOut(.response)),
  ])
  func `stale-if-error replaces errors within its window`(answer: CacheWorld.Answer) {
    withVirtualTime { time in
      let world = world(time, "max-age=1, stale-if-error=10", then: answer)
      let got = world.get()
      #expect(got.status == 200 && got.body == "old")
      #expect(got.headers["Age"] == "5")
      world.wait(6)
      #expect(world.get().body != "old", "its window is over")
    }
  }

  @Test(arguments: [400, 404, 429, 501, 505])
  func `stale-if-error doesn't replace other statuses`(status: Int) {
    withVirtualTime { time in
      let world = world(time, "max-age=1, stale-if-error=10", then: .response(status, []))
      #expect(world.get().status == status)
    }
  }

  @Test(arguments: ["must-revalidate", "no-cache"])
  func `directives that forbid stale responses are honored`(directive: String) {
    withVirtualTime { time in
      let world = world(
        time, "max-age=1, stale-if-error=10, \(directive)", then: .response(503, []), .failure(.connect))
      #expect(world.get().status == 503)
      #expect(world.get().status == 504)
    }
  }

  @Test func `a request's own stale-if-error replaces errors`() {
    withVirtualTime { time in
      let world = world(time, "max-age=1", then: .response(503, []))
      #expect(world.get(("Cache-Control", "stale-if-error=10")).body == "old")
      #expect(world.get(("Cache-Control", "stale-if-error=3")).status == 503)
    }
  }

  @Test func `an error isn't replaced if the request demands a fresh response`() {
    withVirtualTime { time in
      let world = world(time, "max-age=100, stale-if-error=100", then: .response(503, []), .failure(.connect))
      #expect(world.get(("Cache-Control", "no-cache")).status == 503)
      #expect(world.get(("Cache-Control", "max-age=0")).error == .connect)
    }
  }

  // MARK: Disconnected

  @Test func `while disconnected, a stale response is used unless a directive forbids it`() {
    withVirtualTime { time in
      let world = world(time, "max-age=1", then: .failure(.connect), .response(503, []))
      #expect(world.get().body == "old")
      #expect(world.get().status == 503, "a server that responds doesn't count as a missing network")
    }
  }

  @Test(arguments: ["max-age=1, must-revalidate", "max-age=100, no-cache", "no-cache"])
  func `while disconnected, a response that requires validation becomes a 504`(control: String) {
    withVirtualTime { time in
      let world = world(time, control, then: .failure(.connect), .failure(.tls), .failure(.connect))
      let answer = world.get()
      #expect(answer.status == 504)
      #expect(answer.body == "")
      #expect(world.get().error == .tls, "no failure of the network")
      #expect(world.get(("If-None-Match", "\"mine\"")).error == .connect, "the condition is the caller's")
    }
  }

  @Test func `a 504 for a response that requires validation reaches all requests that wait for it`() {
    withVirtualTime { time in
      let world = world(time, "max-age=1, must-revalidate", then: .response(200, [], "too late"))
      world.origin.latency = 31
      let all = (0..<3).map { _ in world.begin(world.request()) }
      time.run()
      #expect(all.allSatisfy { $0.value.status == 504 && $0.value.isOver })
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a request that has time left validates a stored response itself after another one's timeout`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let moved = CacheWorld.Answer.response(301, [("Cache-Control", "no-store"), ("Location", "/new")])
      let stored = CacheWorld.Answer.response(200, [("Cache-Control", "max-age=1, must-revalidate"), tag], "old")
      // The second request for /new times out.
      world.origin.answers = [stored, moved, .notModified([]), moved, .notModified([])]
      world.get(path: "/new")
      world.wait(5)
      world.origin.latency = 29
      let early = world.begin(world.request([], "/a"))
      world.wait(29.1)
      world.origin.latency = 0.1
      let late = world.begin(world.request([], "/b"))
      world.wait(0.05)
      world.origin.latency = 2
      time.run()
      #expect(early.value.status == 504 && late.value.body == "old" && late.value.isOver)
      #expect(world.origin.requests.map { $0.url.path() } == ["/new", "/a", "/new", "/b", "/new"])
    }
  }

  @Test(arguments: [HTTPError.Kind.tls, .notHTTP, .tooLarge(limit: 1), .encoding, .resources, .redirectRefused])
  func `other failures don't count as disconnection`(kind: HTTPError.Kind) {
    withVirtualTime { time in
      let world = world(time, "max-age=1, stale-if-error=10", then: .failure(kind))
      #expect(world.get().error == kind)
    }
  }

  @Test func `usesStaleWhenDisconnected turns off stale responses while disconnected`() {
    withVirtualTime { time in
      let world = world(time, "max-age=1", then: .failure(.connect)) { $0.usesStaleWhenDisconnected = false }
      #expect(world.get().error == .connect)
    }
  }
}
