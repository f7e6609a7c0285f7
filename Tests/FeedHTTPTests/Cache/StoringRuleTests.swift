import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedHTTP

/// The rules for storing responses and for using them: RFC 9111, sections 3, 4 and 5.2.
@Suite(.settled) struct StoringRuleTests {
  private static let tag = ("ETag", "\"abc\"")
  private static let validated = CacheRule.Expected.validated(["If-None-Match: \"abc\""])

  @Test(arguments: [
    CacheRule.control("no-store", "no-store, max-age=10", .asked),
    .control("no-store in odd case", "No-StOrE, max-age=10", .asked),
    .control("no-store with a value", "no-store=x, max-age=10", .asked),
    .answer("no-store beside Expires", [("Cache-Control", "no-store"), ("Expires", "{10}")], .asked),
    .answer("no-store on a line of its own", [("Cache-Control", "max-age=10"), ("Cache-Control", "no-store")], .asked),
    .control("no-store in quotes is none", "x=\"no-store\", max-age=10", .used),
    .control("must-understand, of a status that is understood", "must-understand, no-store, max-age=10", .used),
    CacheRule(
      name: "must-understand, of one that is not", status: 599,
      fields: [("Cache-Control", "must-understand, no-store, max-age=10")], expected: .asked),
    CacheRule(
      name: "must-understand, of one that is not, without no-store", status: 299,
      fields: [("Cache-Control", "must-understand, max-age=10")], expected: .asked),
    CacheRule(name: "206", status: 206, fields: [("Cache-Control", "max-age=10")], expected: .asked),
    CacheRule(name: "304", status: 304, fields: [("Cache-Control", "max-age=10")], expected: .asked),
    .answer("Set-Cookie", [("Cache-Control", "max-age=10"), ("Set-Cookie", "a=b")], .used),
    .answer("Content-Disposition", [("Cache-Control", "max-age=10"), ("Content-Disposition", "attachment")], .used),
    CacheRule(
      name: "a request with a cookie", fields: [("Cache-Control", "max-age=10")], then: [("Cookie", "a=b")],
      expected: .used),
  ])
  func `responses that may be stored are stored`(_ rule: CacheRule) { rule.check() }

  @Test(arguments: [
    CacheRule.answer("no-cache, fresh or not", [("Cache-Control", "no-cache, max-age=10"), tag], validated),
    .answer("no-cache in odd case", [("Cache-Control", "No-CaChE, max-age=10"), tag], validated),
    .control("no-cache without a validator", "no-cache, max-age=10", .asked),
    .answer("no-cache with an empty list", [("Cache-Control", "no-cache=\"\", max-age=10"), tag], validated),
    .answer("both forms of no-cache", [("Cache-Control", "no-cache=\"a\", no-cache, max-age=10"), tag], validated),
    .control("no-cache that names fields", "no-cache=\"a\", max-age=10", .used),
    .answer("must-revalidate, while it is fresh", [("Cache-Control", "must-revalidate, max-age=10"), tag], .used),
    .answer(
      "must-revalidate, when it is stale", [("Cache-Control", "must-revalidate, max-age=10"), tag], wait: 10, validated),
    CacheRule(
      name: "must-revalidate against max-stale", fields: [("Cache-Control", "must-revalidate, max-age=10"), tag],
      wait: 11, then: [("Cache-Control", "max-stale")], expected: validated),
    CacheRule(
      name: "no-cache against max-stale", fields: [("Cache-Control", "no-cache, max-age=10"), tag],
      then: [("Cache-Control", "max-stale")], expected: validated),
  ])
  func `responses that require validation are validated before use`(_ rule: CacheRule) { rule.check() }

  private static let hour = [("Cache-Control", "max-age=3600"), tag]
  private static func asked(_ value: String, after wait: Double = 10, _ expected: CacheRule.Expected) -> CacheRule {
    CacheRule(name: value, fields: hour, wait: wait, then: [("Cache-Control", value)], expected: expected)
  }

  @Test(arguments: [
    asked("no-cache", validated), asked("No-Cache", validated), asked("max-age=0", validated),
    asked("max-age=9", validated), asked("max-age=10", .used), asked("max-age=x", validated),
    asked("max-age=5, max-age=50", validated),
    asked("min-fresh=3590", .used), asked("min-fresh=3591", validated), asked("min-fresh=x", validated),
    asked("no-store", .asked), asked("only-if-cached", .used), asked("unknown", .used),
    asked("max-stale", after: 1e6, .used), asked("max-stale=100", after: 3700, .used),
    asked("max-stale=100", after: 3701, validated), asked("max-stale=x", after: 3700, validated),
    asked("max-stale=100, max-age=5000", after: 3650, .used),
    asked("max-stale=100, max-age=10", after: 3650, validated),
    asked("max-stale=100, min-fresh=1", after: 3650, validated),
  ])
  func `a request's Cache-Control limits the age of a stored response`(_ rule: CacheRule) { rule.check() }

  @Test(arguments: [
    CacheRule(name: "Pragma: no-cache", fields: hour, then: [("Pragma", "no-cache")], expected: validated),
    CacheRule(name: "Pragma: other", fields: hour, then: [("Pragma", "other")], expected: .used),
    CacheRule(
      name: "Pragma beside Cache-Control", fields: hour, then: [("Pragma", "no-cache"), ("Cache-Control", "x")],
      expected: .used),
  ])
  func `a request's Pragma applies only without Cache-Control`(_ rule: CacheRule) { rule.check() }

  @Test(arguments: [
    CacheRule(
      name: "no-store, though the answer may be stored", sent: [("Cache-Control", "no-store")], fields: hour,
      expected: .asked),
    CacheRule(name: "Range, though the answer is whole", sent: [("Range", "bytes=0-")], fields: hour, expected: .asked),
    CacheRule(
      name: "no-store and Range, though an answer is stored", fields: hour,
      then: [("Range", "bytes=0-1"), ("Cache-Control", "no-store")], expected: .asked),
    CacheRule(name: "If-Range", fields: hour, then: [("If-Range", "\"abc\"")], expected: .asked),
    CacheRule(
      name: "conditions of the caller's, of a stale response", fields: hour, wait: 3600,
      then: [("If-None-Match", "\"x\"")], expected: .validated(["If-None-Match: \"x\""])),
    CacheRule(
      name: "a date of the caller's, of a stale response", fields: hour, wait: 3600,
      then: [("If-Modified-Since", "{-5}")], expected: .validated(["If-Modified-Since: {-5}"])),
    CacheRule(name: "conditions for the origin alone", fields: hour, then: [("If-Match", "\"abc\"")], expected: .asked),
    CacheRule(
      name: "conditions for the origin alone, by date", fields: hour, then: [("If-Unmodified-Since", "{0}")],
      expected: .asked),
    CacheRule(
      name: "a whole answer to conditions is stored", sent: [("If-None-Match", "\"x\"")], fields: hour, expected: .used),
  ])
  func `requests with no-store or Range bypass the cache`(_ rule: CacheRule) { rule.check() }

  @Test(arguments: [
    CacheRule.answer("an ETag", [("Date", "{0}"), tag], validated),
    .answer("a weak one", [("ETag", "W/\"abc\"")], .validated(["If-None-Match: W/\"abc\""])),
    .answer("one without quotes, as it came", [("ETag", "abc")], .validated(["If-None-Match: abc"])),
    .answer("an empty one is none", [("ETag", "")], .asked),
    .answer(
      "Last-Modified", [("Cache-Control", "max-age=1"), ("Last-Modified", "{-5000}")],
      .validated(["If-Modified-Since: {-5000}"])),
    .answer(
      "Last-Modified that isn't a date, as it came", [("Last-Modified", "Monday")],
      .validated(["If-Modified-Since: Monday"])),
    .answer(
      "both", [("Cache-Control", "max-age=1"), ("Last-Modified", "{-5000}"), tag],
      .validated(["If-None-Match: \"abc\"", "If-Modified-Since: {-5000}"])),
  ])
  func `a stale response is validated with the validators it has`(_ rule: CacheRule) { rule.check() }

  @Test(
    arguments: [
      ([("If-None-Match", "\"abc\"")], 304), ([("If-None-Match", "W/\"abc\"")], 304),
      ([("If-None-Match", "\"1\", \"abc\"")], 304), ([("If-None-Match", "\"1\""), ("If-None-Match", "\"abc\"")], 304),
      ([("If-None-Match", "*")], 304), ([("If-None-Match", "\"1\"")], 200), ([("If-None-Match", "\"ABC\"")], 200),
      ([("If-None-Match", "\"abc\""), ("If-Modified-Since", "{-1000}")], 304),
      ([("If-None-Match", "\"1\""), ("If-Modified-Since", "{0}")], 200),
      ([("If-Modified-Since", "{-500}")], 304), ([("If-Modified-Since", "{-400}")], 304),
      ([("If-Modified-Since", "{-501}")], 200), ([("If-Modified-Since", "yesterday")], 200),
    ] as [([(String, String)], Int)])
  func `a caller's conditions are evaluated against a fresh stored response`(
    conditions: [(String, String)], status: Int
  ) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let fields = Self.hour + [("Last-Modified", "{-500}"), ("Date", "{0}"), ("Content-Type", "a/b"), ("Vary", "Foo")]
      world.origin.answers = [.response(200, fields, "body")]
      world.get()
      world.wait(7)
      let got = world.get(world.request(conditions))
      #expect(world.origin.requests.count == 1)
      #expect(got.status == status)
      #expect(got.body == (status == 200 ? "body" : ""))
      #expect(got.headers["ETag"] == "\"abc\"" && got.headers["Age"] == "7" && got.headers["Vary"] == "Foo")
      #expect((got.headers["Content-Type"] == nil) == (status == 304))
    }
  }

  @Test func `without Last-Modified, If-Modified-Since is compared with Date`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10"), ("Date", "{-2}")])]
      world.get()
      #expect(world.get(("If-Modified-Since", "{-2}")).status == 304)
      #expect(world.get(("If-Modified-Since", "{-3}")).status == 200)
      #expect(world.origin.requests.count == 1)
    }
  }

  @Test func `only-if-cached delivers the stored response, or else 504`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10")])]
      let got = world.get(("Cache-Control", "only-if-cached"))
      #expect(got.status == 504)
      #expect(got.body == "")
      #expect(world.origin.requests.isEmpty)
      world.get()
      world.wait(11)
      #expect(world.get(("Cache-Control", "only-if-cached")).status == 504, "it is stale")
      #expect(world.get(("Cache-Control", "only-if-cached, max-stale")).status == 200)
      #expect(world.origin.requests.count == 1)
    }
  }

  @Test func `failed and incomplete responses aren't stored`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.failure(.truncated), .response(200, [("Cache-Control", "max-age=10")])]
      #expect(world.get().error == .truncated)
      #expect(world.get().status == 200)
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `URLs that send the same request share a stored response`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10")])]
      world.get(path: "/a?b=c")
      for same in ["http://example.com/a?b=c#fragment", "HTTP://EXAMPLE.com:80/a?b=c"] {
        world.get(HTTPRequest(.init(string: same)!))
      }
      #expect(world.origin.requests.count == 1)
      for other in [
        "https://example.com/a?b=c", "http://example.com/a?b=d", "http://example.com/A?b=c",
        "http://example.com:81/a?b=c",
      ] {
        world.get(HTTPRequest(.init(string: other)!))
      }
      #expect(world.origin.requests.count == 5)
    }
  }

  @Test func `hop-by-hop header fields aren't stored`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let kept = [("Test", "1"), ("Test", "2"), ("Content-Encoding", "x"), ("Trailer", "y")]
      let dropped = [
        ("Connection", "A, b"), ("a", "1"), ("B", "2"), ("Keep-Alive", "1"), ("Proxy-Authenticate", "x"),
        ("Proxy-Authentication-Info", "x"), ("Proxy-Authorization", "x"), ("Proxy-Connection", "x"), ("TE", "x"),
        ("Transfer-Encoding", "chunked"), ("Upgrade", "x"),
      ]
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10"), ("Date", "{0}")] + dropped + kept)]
      world.get()
      let got = world.get()
      #expect(world.origin.requests.count == 1)
      #expect(got.headers.map(\.name) == ["Cache-Control", "Date"] + kept.map(\.0) + ["Age"])
      #expect(got.headers.values(of: "test") == ["1", "2"])
    }
  }

  @Test func `a stored response doesn't set its cookies again`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let jar = CookieJar(suffixes: PublicSuffixes()) { CacheWorld.now(time) }
      let client = world.client.withCookies(in: jar)
      func send(_ request: HTTPRequest) -> String? {
        let subscription = client.get(request).sink { _ in
        } receiveValue: { _ in
        }
        time.run()
        subscription.cancel()
        return jar.field(for: request.url)
      }
      var login = world.request([], "/login")
      login.method = .post
      world.origin.answers = [
        .response(200, [("Cache-Control", "max-age=10"), Self.tag, ("Set-Cookie", "user=none; Path=/")]),
        .response(200, [("Set-Cookie", "user=ann; Path=/")]), .notModified([("Cache-Control", "max-age=10")]),
        .notModified([("Cache-Control", "max-age=10"), ("Set-Cookie", "user=bob; Path=/")]),
      ]
      #expect(send(world.request()) == "user=none")
      #expect(send(login) == "user=ann")
      #expect(send(world.request()) == "user=ann" && world.origin.requests.count == 2, "it is fresh")
      world.wait(10)
      #expect(send(world.request()) == "user=ann" && world.origin.requests.count == 3, "it is validated")
      world.wait(10)
      #expect(send(world.request()) == "user=bob", "the 304 sets a cookie")
    }
  }

  @Test func `header fields listed in no-cache are delivered only after validation`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let fields = [
        ("Cache-Control", "no-cache=\"a, B\""), ("a", "1"), ("b", "2"), ("c", "3"), ("Cache-Control", "max-age=10"),
        Self.tag,
      ]
      world.origin.answers = [.response(200, fields), .notModified([])]
      #expect(world.get().headers["a"] == "1")
      let stored = world.get()
      #expect(stored.headers["a"] == nil && stored.headers["b"] == nil && stored.headers["c"] == "3")
      world.wait(11)
      let validated = world.get()
      #expect(validated.headers["a"] == "1" && validated.headers["b"] == "2")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a missing Date is set to the time of arrival`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10")])]
      #expect(world.get().headers["Date"] == nil, "as it came")
      world.wait(3)
      let got = world.get()
      #expect(got.headers["Date"] == CacheWorld.expanded("{0}"))
      #expect(got.headers["Age"] == "3")
    }
  }

  @Test func `a stored response's Age is updated on delivery`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Age", "30"), ("Cache-Control", "max-age=100")])]
      #expect(world.get().headers.values(of: "Age") == ["30"], "as it came")
      world.wait(2.9)
      #expect(world.get().headers.values(of: "Age") == ["32"])
      world.wait(0.1)
      #expect(world.get().headers.values(of: "Age") == ["33"])
    }
  }

  @Test func `a response stored with a clock that was ahead still expires`() {
    withVirtualTime { time in
      let clock = CacheWorld.Clock()
      let world = CacheWorld(time, clock: clock)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10")])]
      clock.error = 1000
      world.get()
      clock.error = 0
      world.get()
      #expect(world.origin.requests.count == 2)
      clock.error = -60
      world.get()
      #expect(world.origin.requests.count == 2, "a minute is within what clocks are corrected by")
    }
  }

  @Test func `a stored body over the request's limit fails`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10")], "12345")]
      world.get()
      var request = world.request()
      request.maxBodyBytes = 4
      #expect(world.get(request).error == .tooLarge(limit: 4))
      request.maxBodyBytes = 5
      #expect(world.get(request).body == "12345")
    }
  }
}
