import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedHTTP

/// The effect of a 304: RFC 9111, sections 3.2, 4.3.3 and 4.3.4.
@Suite(.settled) struct ValidationTests {
  private let tag = ("ETag", "\"abc\"")
  private let second = ("Cache-Control", "max-age=1")

  @Test func `a 304 makes the stored response fresh again`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [second, tag, ("Age", "30"), ("Kept", "1")]),
        .notModified([("Cache-Control", "max-age=10"), tag]),
      ]
      world.get()
      world.wait(5)
      let validated = world.get()
      #expect(validated.status == 200)
      #expect(validated.body == "body 0")
      #expect(validated.headers["Age"] == nil, "an Age would say that it was not validated (RFC 9111, section 5.1)")
      #expect(validated.headers["Kept"] == "1")
      world.wait(9)
      let stored = world.get()
      #expect(stored.headers["Age"] == "9")
      #expect(world.origin.requests.count == 2)
      world.wait(1)
      world.get()
      #expect(world.origin.requests.count == 3)
    }
  }

  @Test func `a 304 replaces fields and adds new ones`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(
          200,
          [
            second, tag, ("Date", "{0}"), ("Test", "old"), ("Test", "older"), ("Kept", "1"), ("Content-Type", "text/a"),
            ("Content-Length", "6"), ("Content-Encoding", "a"), ("Set-Cookie", "a"), ("Expires", "{1}"),
          ]),
        .notModified([
          second, tag, ("Date", "{5}"), ("Test", "new"), ("New", "1"), ("Content-Type", "text/b"),
          ("Connection", "Hop"),
          ("Hop", "1"), ("Content-Length", "0"), ("Content-Encoding", "b"), ("Content-Range", "x"), ("Set-Cookie", "b"),
          ("Expires", "{9}"),
        ]),
      ]
      world.get()
      world.wait(5)
      let (validated, stored) = (world.get(), world.get())
      #expect(validated.headers["Set-Cookie"] == "b" && stored.headers["Set-Cookie"] == nil)
      for got in [validated, stored] {
        #expect(got.headers.values(of: "Test") == ["new"])
        #expect(got.headers["Kept"] == "1" && got.headers["New"] == "1")
        #expect(got.headers["Content-Type"] == "text/b")
        #expect(got.headers["Expires"] == CacheWorld.expanded("{9}"))
        #expect(got.headers.values(of: "Date") == [CacheWorld.expanded("{5}")])
        #expect(got.headers.values(of: "Content-Length") == ["6"])
        #expect(got.headers.values(of: "Content-Encoding") == ["a"])
        #expect(got.headers["Content-Range"] == nil && got.headers["Hop"] == nil && got.headers["Connection"] == nil)
      }
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a 304 with Age sets the stored response's age`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [second, tag]), .notModified([("Cache-Control", "max-age=10"), ("Age", "8")]),
      ]
      world.get()
      world.wait(5)
      #expect(world.get().headers["Age"] == "8")
      world.wait(2)
      world.get()
      #expect(world.origin.requests.count == 3)
    }
  }

  @Test(
    arguments: [
      ([("ETag", "\"abc\"")], [("ETag", "W/\"abc\"")]),
      ([("ETag", "W/\"abc\"")], [("ETag", "\"abc\"")]),
      ([("ETag", "\"abc\"")], []),
      ([("Last-Modified", "{-9}"), ("Cache-Control", "max-age=0")], []),
      ([("Last-Modified", "{-9}"), ("Cache-Control", "max-age=0")], [("Last-Modified", "{-9}")]),
      (
        [("ETag", "\"abc\""), ("Last-Modified", "{-9}"), ("Cache-Control", "max-age=0")],
        [("ETag", "\"abc\""), ("Last-Modified", "{-5}")]
      ),
    ] as [([(String, String)], [(String, String)])])
  func `a 304 applies to the stored response that its validators match, or else the one validated`(
    stored: [(String, String)], answered: [(String, String)]
  ) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, stored), .notModified(answered)]
      world.get()
      world.wait(1)
      #expect(world.get().body == "body 0")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test(
    arguments: [
      ([("ETag", "\"abc\"")], [("ETag", "\"other\"")]),
      ([("Last-Modified", "{-9}"), ("Cache-Control", "max-age=0")], [("Last-Modified", "{-8}")]),
    ] as [([(String, String)], [(String, String)])])
  func `after a 304 for another response, the request is repeated without conditions`(
    stored: [(String, String)], answered: [(String, String)]
  ) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, stored), .notModified(answered), .response(200, [second], "whole")]
      world.get()
      world.wait(1)
      #expect(world.get().body == "whole")
      #expect(world.origin.requests.count == 3)
      #expect(world.origin.requests[2].headers.isEmpty)
      #expect(world.get().body == "whole")
      #expect(world.origin.requests.count == 3)
    }
  }

  @Test func `a 304 with no-store removes the stored response`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [second, tag]), .notModified([("Cache-Control", "no-store")])]
      world.get()
      world.wait(1)
      #expect(world.get().body == "body 0")
      world.get()
      #expect(world.origin.requests[2].headers.isEmpty, "nothing is stored that could be validated")
    }
  }

  @Test func `a 304 to the caller's own condition is delivered to the caller`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [("Cache-Control", "max-age=10"), tag]), .notModified([("ETag", "\"x\"")]),
      ]
      world.get()
      world.wait(10)
      let got = world.get(("If-None-Match", "\"x\""))
      #expect(got.status == 304)
      #expect(world.origin.requests.last?.headers.count == 1)
      #expect(world.get(("Cache-Control", "max-stale")).body == "body 0", "what is stored stays")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a new response replaces the stored one`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [second, tag]), .response(200, [("Cache-Control", "max-age=10")])]
      world.get()
      world.wait(1)
      #expect(world.get().body == "body 1")
      #expect(world.get().body == "body 1")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a response that must not be stored removes the stored one, except an error`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [second, tag]), .response(502, []), .response(200, [("Cache-Control", "no-store")]),
        .response(200, []),
      ]
      world.get()
      world.wait(1)
      #expect(world.get().status == 502)
      #expect(world.get().body == "body 2")
      #expect(world.origin.requests[2].has("If-None-Match"), "after the error it is still there")
      world.get()
      #expect(!world.origin.requests[3].has("If-None-Match"))
    }
  }

  @Test func `the caller's header fields are sent with a validation`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [tag]), .notModified([])]
      world.get(("Foo", "1"))
      world.get(("Foo", "1"))
      #expect(world.origin.requests[1].values(of: "Foo") == ["1"])
      #expect(world.origin.requests[1].values(of: "If-None-Match") == ["\"abc\""])
    }
  }

  @Test func `a 304 renews the response that it validated, not another one with the same key`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [second, ("Vary", "Foo"), ("ETag", "\"1\""), ("Date", "{0}")], "A"),
        .response(200, [("Cache-Control", "max-age=100"), ("Vary", "Bar"), ("ETag", "\"2\""), ("Date", "{-5}")], "B"),
        .notModified([("Cache-Control", "max-age=10"), ("ETag", "\"1\"")]),
      ]
      world.get(("Foo", "1"), ("Bar", "1"))
      world.wait(1)
      world.get(("Foo", "2"), ("Bar", "2"))
      world.wait(1)
      // This request selects both; the first one has the later `Date`.
      #expect(world.get(("Foo", "1"), ("Bar", "2")).body == "A")
      let again = world.get(("Foo", "1"), ("Bar", "2"))
      #expect(world.origin.requests.count == 3)
      #expect(again.headers["ETag"] == "\"1\"" && again.body == "A")
      #expect(world.get(("Foo", "3"), ("Bar", "2")).body == "B")
      #expect(world.origin.requests.count == 3, "the other response is still stored")
    }
  }

  @Test func `a 304 doesn't change a response that was stored meanwhile`() {
    withVirtualTime { time in
      let store = MemoryHTTPCache()
      let (world, other) = (CacheWorld(time, store: store), CacheWorld(time, store: store))
      world.origin.answers = [
        .response(200, [second, tag], "A"), .notModified([("Cache-Control", "max-age=9"), tag]),
      ]
      other.origin.answers = [.response(200, [("Cache-Control", "max-age=9"), ("ETag", "\"new\"")], "B")]
      world.get()
      world.wait(1)
      world.origin.latency = 2
      let late = world.begin(world.request())
      world.wait(1)
      #expect(other.get().body == "B")
      #expect(late.value.body == "A")
      let stored = world.get()
      #expect(stored.body == "B" && stored.headers["ETag"] == "\"new\"")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a Vary that a 304 adds distinguishes later requests`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [second, tag], "de"), .notModified([("Cache-Control", "max-age=100"), tag, ("Vary", "Foo")]),
        .response(200, [], "en"),
      ]
      world.get(("Foo", "de"))
      world.wait(2)
      #expect(world.get(("Foo", "de")).body == "de")
      #expect(world.get(("Foo", "en")).body == "en")
      #expect(world.get(("Foo", "de")).body == "de")
      #expect(world.origin.requests.count == 3)
    }
  }

  @Test func `a response that a 304 makes private isn't used for another user`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [("Cache-Control", "public, max-age=1"), tag], "A's"),
        .notModified([("Cache-Control", "private, max-age=100"), tag]), .response(200, [], "B's"),
      ]
      world.get(("Authorization", "A"))
      world.wait(2)
      #expect(world.get(("Authorization", "A")).body == "A's")
      #expect(world.get(("Authorization", "B")).body == "B's")
    }
  }

  @Test(arguments: ["\"a\tb\"", "\"a\u{01}b\"", "\"a\u{7F}b\"", "\"\(String(repeating: "a", count: 4095))\""])
  func `a validator that can't be sent is left out`(tag: String) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=0"), ("ETag", tag)])]
      world.get()
      #expect(world.get().body == "body 1")
      #expect(world.origin.requests.last?.has("If-None-Match") == false)
    }
  }
}
