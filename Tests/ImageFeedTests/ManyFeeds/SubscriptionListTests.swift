import FeedFormats
import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// A list of subscriptions: feeds move between folders, the file moves, and its changes are watched.
@Suite(.settled) struct SubscriptionListTests {
  private let folder = TemporaryFolder()
  private let a = URL(string: "https://a.example/feed")!
  private let b = URL(string: "https://b.example/")!

  @Test func `moving a feed keeps its attributes, and removes empty folders`() throws {
    var list = OPML()
    list.add(SubscribedFeed(address: a, title: "A", folders: ["x", "y"], interval: .seconds(60)))
    list.add(SubscribedFeed(address: b, folders: ["z"]))
    let moved = [
      list.move(a, to: ["z"]), list.move(a, to: ["z"]), list.move(URL(string: "https://no.example/")!, to: []),
    ]
    #expect(moved == [true, false, false])
    #expect(
      list.subscriptions == [
        SubscribedFeed(address: b, folders: ["z"]),
        SubscribedFeed(address: a, title: "A", folders: ["z"], interval: .seconds(60)),
      ])
    #expect(list.outlines.count == 1)
  }

  @Test func `adding a known feed with another folder moves it, and without a folder keeps it in place`() {
    var list = OPML()
    list.add(SubscribedFeed(address: a, folders: ["x"]))
    list.add(SubscribedFeed(address: a, folders: ["y"]))
    #expect(list.subscriptions.map(\.folders) == [["y"]])
    list.add(SubscribedFeed(address: a, title: "A"))
    #expect(list.subscriptions == [SubscribedFeed(address: a, title: "A", folders: ["y"])])
  }

  @Test func `login data is saved in the list, and left out with withoutSecrets`() throws {
    var list = OPML()
    let feed = SubscribedFeed(
      address: a, title: "A", headers: ["X-Key: k", "X-Other: o"], user: "me:secret", usesNetrc: true)
    list.add(feed)
    let read = try OPML(parsing: Array(list.document.utf8))
    #expect(read.subscriptions == [feed])
    #expect(read.withoutSecrets.subscriptions == [SubscribedFeed(address: a, title: "A", usesNetrc: true)])
  }

  @Test func `adopt moves another list only if there is none yet`() throws {
    let (old, new) = (
      SubscriptionFile(path: folder.file("old.opml")), SubscriptionFile(path: folder.file("n/new.opml"))
    )
    #expect(try !new.adopt(old))
    try old.update { _ = $0.add(SubscribedFeed(address: a)) }
    #expect(try new.adopt(old))
    #expect(try new.read()?.subscriptions == [SubscribedFeed(address: a)])
    #expect(try old.read() == nil)
    try old.update { _ = $0.add(SubscribedFeed(address: b)) }
    #expect(try !new.adopt(old))
    #expect(try old.read()?.subscriptions == [SubscribedFeed(address: b)])
  }

  @Test func `create writes a new file, and replaces an existing one only if allowed`() throws {
    let file = SubscriptionFile(path: folder.file("export.opml"))
    try Data("mine".utf8).write(to: URL(filePath: file.path))
    #expect(try !file.create(OPML(title: "T")))
    #expect(try Data(contentsOf: URL(filePath: file.path)) == Data("mine".utf8))
    #expect(try file.create(OPML(title: "T"), replacing: true))
    #expect(try file.read()?.title == "T")
  }

  @Test func `a site's feed is distinguished from its comments feed`() {
    func link(_ address: String, _ title: String? = nil) -> FeedLink {
      FeedLink(address: address, title: title, type: "application/rss+xml")
    }
    for comments in [
      link("https://e.example/comments/feed/"), link("https://e.example/?feed=comments-rss2"),
      link("https://e.example/a/feed/", "Blog » A Comments Feed"), link("https://e.example/a/feed/", "Kommentare zu A"),
    ] { #expect(comments.isOfComments) }
    #expect(!link("https://e.example/feed/", "Blog » Feed").isOfComments)
  }
}
