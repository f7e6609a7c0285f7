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

  @Test func `names of folders count as one line of text`() {
    var list = OPML()
    let names = ["Tech  News", " Tech\nNews", "Tech News\u{1}"]
    for (index, name) in names.enumerated() {
      list.add(SubscribedFeed(address: URL(string: "https://\(index).example/")!, folders: [name]))
    }
    #expect(list.outlines.map(\.name) == ["Tech News"] && list.outlines[0].outlines.count == 3)
    let moved = list.move(URL(string: "https://0.example/")!, to: ["Tech News "])
    #expect(!moved)
    list.add(SubscribedFeed(address: a, folders: ["\u{1}"]))
    #expect(list.subscriptions.last == SubscribedFeed(address: a))
  }

  @Test func `attributes keep their vocabularies when feeds move or are added to another list`() throws {
    let text = """
      <opml version='2.0' xmlns:feed='urn:other'><body><outline text='F' xmlns:x='urn:1'>
      <outline text='G' xmlns:x='urn:2'><outline text='A' xmlUrl='\(a)' x:y='1' feed:user='not mine'/></outline>
      </outline></body></opml>
      """
    var other = try OPML(parsing: Array(text.utf8))
    var list = OPML()
    list.add(SubscribedFeed(address: b, user: "me:secret"))
    list.add(other)
    #expect(list.subscriptions.map(\.user) == ["me:secret", nil])
    other.move(a, to: ["H"])
    for list in [list, other] {
      let read = try OPML(parsing: Array(list.document.utf8))
      let feed = try #require(read.feeds.first { $0.address == a.absoluteString })
      let meanings = feed.outline.attributes.compactMap { attribute -> String? in
        let prefix = attribute.name.prefix { $0 != ":" }
        return read.namespaces.first { $0.name == prefix }.map { "\($0.value) \(attribute.value)" }
      }
      #expect(meanings == ["urn:2 1", "urn:other not mine"])
    }
  }

  @Test func `a list stays where a symbolic link leads, even if no file is there yet`() throws {
    let link = folder.file("link.opml")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "there/list.opml")
    let file = SubscriptionFile(path: link)
    try file.update { _ = $0.add(SubscribedFeed(address: a)) }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "there/list.opml")
    #expect(try SubscriptionFile(path: folder.file("there/list.opml")).read()?.feeds.count == 1)
    try file.update { _ = $0.add(SubscribedFeed(address: b)) }
    #expect(try file.read()?.feeds.count == 2)
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
