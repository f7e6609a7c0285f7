import FeedFormats
import FeedHTTP
import Foundation
import TestSupport
import Testing

@testable import FeedPolling

/// The places in which feeds and responses name a hub.
@Suite(.settled) struct HubLinkTests {
  private let url = URL(string: "https://example.com/feed")!

  @Test(
    arguments: [
      (["<https://hub.example/>; rel=\"hub\""], "https://hub.example/", "https://example.com/feed"),
      (
        ["<https://hub.example/>; rel=hub, <https://example.com/self>; rel=self"], "https://hub.example/",
        "https://example.com/self"
      ),
      (
        ["</self>; rel=\"alternate self\"", "<http://h/a,b>; title=x; REL=HUB"], "http://h/a,b",
        "https://example.com/self"
      ),
      (["<https://hub.example/>; rel=\"next\""], nil, nil), (["<ftp://hub.example/>; rel=hub"], nil, nil),
      (["<https://hub.example/; rel=hub"], nil, nil), ([], nil, nil),
    ] as [([String], String?, String?)])
  func `a response's Link header names a hub, and optionally the feed's topic`(
    lines: [String], hub: String?, topic: String?
  ) {
    let link = HubLink(HTTPHeaders(lines.map { (name: "Link", value: $0) }), at: url)
    #expect(link?.hub.absoluteString == hub && link?.topic.absoluteString == topic)
  }

  @Test func `Atom, RSS and JSON Feed documents can name a hub`() throws {
    let atom =
      "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='hub' href='https://hub.example/'/>"
      + "<link rel='self' href='https://example.com/self'/><entry><id>1</id></entry></feed>"
    let rss =
      "<rss version='2.0' xmlns:a='http://www.w3.org/2005/Atom'><channel><a:link rel='self' href='https://example.com/self'/>"
      + "<a:link rel='hub' href='https://hub.example/'/></channel></rss>"
    let json = """
      {"version": "https://jsonfeed.org/version/1.1", "feed_url": "https://example.com/self", "items": [],
       "hubs": [{"type": "WebSub", "url": "https://hub.example/"}]}
      """
    for text in [atom, rss, json] {
      var parser = FeedParser(address: url.absoluteString)
      try parser.feed(Array(text.utf8))
      let document = try parser.finish()
      let link = HubLink(document.polling, at: url)
      #expect(
        link == HubLink(hub: URL(string: "https://hub.example/")!, topic: URL(string: "https://example.com/self")!))
    }
    #expect(HubLink(PollingHints(), at: url) == nil)
  }

  @Test(arguments: [nil, "/feed", "http://ann:secret@example.com/self"])
  func `a hub gets neither the user and the password of the feed's URL nor those of its own`(topic: String?) {
    let url = URL(string: "https://ann:secret@example.com/feed")!
    var hints = PollingHints()
    (hints.hub, hints.topic) = ("https://me:secret@hub.example/", topic)
    let field = "<https://me:secret@hub.example/>; rel=hub" + (topic.map { ", <\($0)>; rel=self" } ?? "")
    for link in [HubLink(hints, at: url), HubLink([("Link", field)], at: url)] {
      #expect(link?.hub.absoluteString == "https://hub.example/")
      #expect(link?.topic.user() == nil && link?.topic.password() == nil && link?.topic.host() == "example.com")
    }
  }

  @Test func `a push subscription is saved with its feed, and removed with its hub`() throws {
    var health = FeedHealth(address: url)
    health.hub = HubLink(hub: URL(string: "https://hub.example/")!, topic: url)
    var lease = PushLease(link: health.hub!, path: "abc", secret: "def")
    (lease.until, lease.announced, lease.trouble) = (noon + 60, noon, "its hub can't be reached")
    health.push = lease
    #expect(health.stored.withUnsafeBytes { FeedHealth(stored: $0) } == health)
    health.hub?.isFromPrivateNetwork = true
    #expect(health.stored.withUnsafeBytes { FeedHealth(stored: $0) }?.push?.path == "abc", "from another network")
    health.hub = nil
    #expect(health.stored.withUnsafeBytes { FeedHealth(stored: $0) }?.push == nil)
  }
}
