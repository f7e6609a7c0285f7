import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

/// One URL with several responses: RFC 9111, section 4.1.
@Suite(.settled) struct VaryRuleTests {
  private static func rule(
    _ name: String, _ vary: [String], _ sent: [(String, String)], then: [(String, String)],
    _ expected: CacheRule.Expected
  ) -> CacheRule {
    CacheRule(
      name: name, sent: sent, fields: [("Cache-Control", "max-age=10")] + vary.map { ("Vary", $0) }, then: then,
      expected: expected)
  }

  @Test(arguments: [
    rule("the same", ["Foo"], [("Foo", "1")], then: [("Foo", "1")], .used),
    rule("another", ["Foo"], [("Foo", "1")], then: [("Foo", "2")], .asked),
    rule("one that was not sent", ["Foo"], [], then: [("Foo", "1")], .asked),
    rule("one that is no longer sent", ["Foo"], [("Foo", "1")], then: [], .asked),
    rule("never sent", ["Foo"], [], then: [], .used),
    rule("empty is not absent", ["Foo"], [("Foo", "")], then: [], .asked),
    rule("what it does not name", ["Foo"], [("Foo", "1"), ("Bar", "1")], then: [("Foo", "1"), ("Bar", "2")], .used),
    rule("names in whatever case", ["FOO"], [("foo", "1")], then: [("Foo", "1")], .used),
    rule("values in their case", ["Foo"], [("Foo", "a")], then: [("Foo", "A")], .asked),
    rule("two, the same", ["Foo, Bar"], [("Foo", "1"), ("Bar", "2")], then: [("Bar", "2"), ("Foo", "1")], .used),
    rule("two, one differs", ["Foo, Bar"], [("Foo", "1"), ("Bar", "2")], then: [("Foo", "1"), ("Bar", "3")], .asked),
    rule("two lines", ["Foo", "Bar"], [("Foo", "1"), ("Bar", "2")], then: [("Foo", "1"), ("Bar", "3")], .asked),
    rule("three, one never sent", ["A, B, C"], [("A", "1"), ("C", "2")], then: [("A", "1"), ("C", "2")], .used),
    rule("empty members", [" , Foo,, "], [("Foo", "1")], then: [("Foo", "2")], .asked),
    rule("lines are joined", ["Foo"], [("Foo", "1, 2")], then: [("Foo", "1"), ("Foo", "2")], .used),
    rule("space around commas", ["Foo"], [("Foo", "1,2")], then: [("Foo", " 1,\t2 ")], .used),
    rule("space in quotes", ["Foo"], [("Foo", "\"1,2\"")], then: [("Foo", "\"1, 2\"")], .asked),
    rule("order", ["Foo"], [("Foo", "1, 2")], then: [("Foo", "2, 1")], .asked),
    rule(
      "languages in whatever case", ["Accept-Language"], [("Accept-Language", "en, de")],
      then: [("Accept-Language", "eN,De")], .used),
    rule(
      "languages in another order may be another wish", ["Accept-Language"], [("Accept-Language", "en, de")],
      then: [("Accept-Language", "de, en")], .asked),
    rule("a star", ["*"], [("Foo", "1")], then: [("Foo", "1")], .asked),
    rule("two stars", ["*, *"], [], then: [], .asked),
    rule("two lines of stars", ["*", "*"], [], then: [], .asked),
    rule("a star after nothing", [", *"], [], then: [], .asked),
    rule("a line with nothing, and a star", ["", "*"], [], then: [], .asked),
    rule("a star and a name", ["*, Foo"], [("Foo", "1")], then: [("Foo", "1")], .asked),
    rule("a name and a star", ["Foo, *"], [("Foo", "1")], then: [("Foo", "1")], .asked),
    rule("a cookie", ["Cookie"], [("Cookie", "a=1")], then: [("Cookie", "a=2")], .asked),
    rule("the same cookie", ["Cookie"], [("Cookie", "a=1")], then: [("Cookie", "a=1")], .used),
  ])
  func `Vary lists the header fields that distinguish requests`(_ rule: CacheRule) { rule.check() }

  @Test(arguments: [
    rule("the same user", [], [("Authorization", "Basic a")], then: [("Authorization", "Basic a")], .used),
    rule("another user", [], [("Authorization", "Basic a")], then: [("Authorization", "Basic b")], .asked),
    rule("nobody after a user", [], [("Authorization", "Basic a")], then: [], .asked),
    rule("a user after nobody", [], [], then: [("Authorization", "Basic a")], .asked),
    CacheRule(
      name: "what is public is everybody's", sent: [("Authorization", "Basic a")],
      fields: [("Cache-Control", "public, max-age=10")], expected: .used),
  ])
  func `one user's response isn't delivered to another user`(_ rule: CacheRule) { rule.check() }

  @Test func `several variants are stored, and each is used`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10"), ("Vary", "Foo")])]
      #expect(world.get(("Foo", "1")).body == "body 0")
      #expect(world.get(("Foo", "2")).body == "body 1")
      #expect(world.get(("Foo", "1")).body == "body 0")
      #expect(world.get(("Foo", "2")).body == "body 1")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `of several matching variants, the newest is used`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, [("Cache-Control", "max-age=100"), ("Vary", "Foo"), ("Date", "{0}")]),
        .response(200, [("Cache-Control", "max-age=100"), ("Vary", "Bar"), ("Date", "{-5}")]),
      ]
      world.get(("Foo", "1"), ("Bar", "1"))
      world.get(("Foo", "2"), ("Bar", "2"))
      #expect(world.get(("Foo", "1"), ("Bar", "2")).body == "body 0")
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `a decompressed body isn't used for a request that decompresses itself`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10"), ("Content-Encoding", "gzip")])]
      world.get()
      var request = world.request()
      request.decodesContent = false
      world.get(request)
      #expect(world.origin.requests.count == 2)
      world.get()
      world.get(request)
      #expect(world.origin.requests.count == 2)
    }
  }

  @Test func `credentials aren't stored`() throws {
    let withUser = try #require(URL(string: "http://user:secret@example.com/"))
    withVirtualTime { time in
      let store = MemoryHTTPCache()
      let world = CacheWorld(time, store: store)
      world.origin.answers = [.response(200, [("Cache-Control", "max-age=10"), ("Vary", "Cookie, Foo")])]
      world.get(("Cookie", "secret"), ("Authorization", "Basic c2VjcmV0"), ("Foo", "shown"))
      world.get(HTTPRequest(withUser))
      var kept: [HTTPStoredResponse] = []
      _ = store.responses(for: "http://example.com/") { _ in true }.sink { _ in
      } receiveValue: {
        kept = $0
      }
      #expect(kept.count == 2)
      let text = "\(kept.map(\.head.selectors))"
      #expect(text.contains("shown"))
      #expect(!text.contains("secret") && !text.contains("c2VjcmV0"))
    }
  }
}
