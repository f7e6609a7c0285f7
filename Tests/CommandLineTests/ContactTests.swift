import ArgumentParser
import TestSupport
import Testing

@testable import feed

/// The URL through which server operators can contact the person who polls.
@Suite(.settled) struct ContactTests {
  @Test func `the contact is sent in User-Agent, and the option overrides the environment`() throws {
    func agent(_ arguments: [String], _ environment: [String: String] = [:]) throws -> String {
      try TrustOptions.parse(arguments).configuration(environment: environment).userAgent
    }
    #expect(try agent([]) == "FeedStream/0.1")
    #expect(try agent(["--contact", "https://example.com/bot"]) == "FeedStream/0.1 (+https://example.com/bot)")
    #expect(try agent(["--contact", "mailto:me@example.com"]) == "FeedStream/0.1 (+mailto:me@example.com)")
    let environment = ["FEED_CONTACT": "https://e.com"]
    #expect(try agent([], environment) == "FeedStream/0.1 (+https://e.com)")
    #expect(try agent(["--contact", "https://a.com"], environment) == "FeedStream/0.1 (+https://a.com)")
    #expect(try agent([], ["FEED_CONTACT": ""]) == "FeedStream/0.1")
  }

  @Test(arguments: [
    "", "me", "ftp://example.com", "https://", "https://e.com/a b", "https://e.com/(x)", "https://e.com/\r\nX: y",
    "mailto:me", "https://e.com/" + String(repeating: "a", count: 200),
  ])
  func `a contact that isn't a URL is refused, from the option and from the environment`(text: String) throws {
    #expect(throws: (any Error).self) { try TrustOptions.parse(["--contact=\(text)"]) }
    #expect(try TrustOptions.parse([]).configuration(environment: ["FEED_CONTACT": text]).userAgent == "FeedStream/0.1")
  }

  @Test func `every polling command has the --contact option`() throws {
    for words in [["watch", "--every", "1h"], ["serve"], ["load"]] {
      _ = try FeedCommand.parseAsRoot(words + ["https://e.com/feed", "--contact", "https://example.com/bot"])
    }
    _ = try FeedCommand.parseAsRoot(["work", "--store", "redis://h", "--contact", "https://example.com/bot"])
  }
}
