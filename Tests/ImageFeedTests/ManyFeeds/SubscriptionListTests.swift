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
    for invisible in ["\u{1}", "\u{200B}"] {
      list.add(SubscribedFeed(address: a, folders: [invisible]))
      #expect(list.subscriptions.last == SubscribedFeed(address: a))
      #expect(list.outlines.count == 2 && list.outlines[1].address == a.absoluteString)
    }
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
    _ = list.add(other)
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

  @Test func `withoutSecrets leaves out login data of every prefix with our vocabulary, and nothing else`() throws {
    let ours = "urn:feedstream:subscription"
    let text = """
      <opml xmlns:a='\(ours)' xmlns:b='\(ours)' xmlns:c='urn:1'><body>
      <outline text='A' xmlUrl='\(a)' a:user='me:secret' b:header='X: secret' B:User='me:secret' c:user='mine'/>
      <outline text='F' xmlns:c='\(ours)'><outline text='B' xmlUrl='\(b)' c:user='me:secret' c:netrc='yes'/>
      <outline text='C' xmlUrl='https://c.example/' xmlns:c='urn:2' c:user='mine'/></outline>
      </body></opml>
      """
    let list = try OPML(parsing: Array(text.utf8)).withoutSecrets
    let names = list.feeds.map { $0.outline.attributes.map(\.name).filter { !$0.hasPrefix("xmlns:") } }
    #expect(names == [["c:user"], ["c:netrc"], ["c:user"]])
    #expect(!list.document.contains("secret"))
    // Prefixes that differ in case are different prefixes.
    let other = """
      <opml xmlns:feed='\(ours)' xmlns:FEED='urn:1'><body>
      <outline text='A' xmlUrl='\(a)' xmlns:FEED='urn:2' feed:user='me:secret'/></body></opml>
      """
    #expect(try !OPML(parsing: Array(other.utf8)).withoutSecrets.document.contains("secret"))
  }

  @Test(arguments: ["&#xA;", "&#xD;&#xA;", "&#xD;"])
  func `each line of feed:header in a list is one field`(line: String) throws {
    let list =
      "<opml xmlns:feed='urn:feedstream:subscription'><body>"
      + "<outline text='A' xmlUrl='\(a)' feed:header='A: 1\(line)B: 2'/></body></opml>"
    #expect(try OPML(parsing: Array(list.utf8)).subscriptions.map(\.headers) == [["A: 1", "B: 2"]])
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

  @Test(arguments: ["0s", "0ms", "0d", "soon"])
  func `an interval of zero in a list is ignored, like one that can't be read`(text: String) throws {
    let list =
      "<opml xmlns:feed='urn:feedstream:subscription'><body>"
      + "<outline text='A' xmlUrl='\(a)' feed:interval='\(text)'/></body></opml>"
    #expect(try OPML(parsing: Array(list.utf8)).subscriptions.map(\.interval) == [nil])
  }

  @Test(arguments: ["https://e.example/Köln", "https://e.example/a b", "https://e.example/?x=a|b"])
  func `a feed can be changed whatever the spelling of its URL`(text: String) throws {
    let outline = "<outline text='A' xmlUrl='\(text)'/>"
    var list = try OPML(parsing: Array("<opml><body>\(outline)</body></opml>".utf8))
    let address = try #require(list.subscriptions.first).address
    let isNew = list.add(SubscribedFeed(address: address, title: "B"))
    #expect(!isNew && list.subscriptions.map(\.title) == ["B"])
    let isMoved = list.move(address, to: ["X"])
    #expect(isMoved && list.subscriptions.map(\.folders) == [["X"]])
    let added = list.add([SubscribedFeed(address: address)])
    var other = OPML()
    other.add(SubscribedFeed(address: address))
    let imported = list.add(other)
    #expect(added == 0 && imported == 0)
    list.outlines += other.outlines
    #expect(list.subscriptions.count == 1)
    let isRemoved = list.remove(address)
    #expect(isRemoved && list.subscriptions.isEmpty && list.outlines.isEmpty)
  }

  @Test(arguments: (UInt8(ascii: " ") + 1)..<0x7F)
  func `a feed is found whatever character its URL contains`(byte: UInt8) throws {
    let character = String(UnicodeScalar(byte))
    for place in ["", "?", "#"] {
      let text = "https://e.example/\(place)a\(character)b\(character)c"
      var list = OPML(outlines: [.init(text: "A", address: text)])
      let address = try #require(list.subscriptions.first).address
      let isMoved = list.move(address, to: ["X"])
      let isRemoved = list.remove(address)
      #expect(isMoved && isRemoved, "\(text)")
    }
  }

  @Test func `feeds inside a feed's outline stay when it is moved or removed`() throws {
    let text = """
      <opml xmlns:x='urn:1'><body><outline text='A' xmlUrl='\(a)' xmlns:x='urn:2'>
      <outline text='B' xmlUrl='\(b)' x:y='1'/></outline></body></opml>
      """
    let changes: [(inout OPML) -> Void] = [{ [a] in _ = $0.move(a, to: ["X"]) }, { [a] in _ = $0.remove(a) }]
    for change in changes {
      var list = try OPML(parsing: Array(text.utf8))
      change(&list)
      let read = try OPML(parsing: Array(list.document.utf8))
      let feed = try #require(read.feeds.first { $0.address == b.absoluteString })
      #expect(
        feed.folders == [] && feed.outline[attribute: "xmlns:x"] == "urn:2" && feed.outline[attribute: "x:y"] == "1")
    }
  }

  @Test func `our attributes without a declaration are kept when a list changes or is imported`() throws {
    let text = """
      <opml><body><outline text='A' xmlUrl='\(a)' feed:interval='2h' feed:user='me:x'/></body></opml>
      """
    let file = SubscriptionFile(path: folder.file("feeds.opml"))
    try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
    try file.update { _ = $0.add(SubscribedFeed(address: b)) }
    let wanted = SubscribedFeed(address: a, title: "A", interval: .seconds(7200), user: "me:x")
    #expect(try file.read()?.subscriptions == [wanted, SubscribedFeed(address: b)])
    var list = try OPML(parsing: Array("<opml xmlns:feed='urn:other'><body/></opml>".utf8))
    _ = list.add(try OPML(parsing: Array(text.utf8)))
    #expect(try OPML(parsing: Array(list.document.utf8)).subscriptions == [wanted])
  }

  @Test(.timeLimit(.minutes(5))) func `a list of many folders is added in linear time`() {
    let folders = (0..<20_000).map {
      OPML.Outline(text: "\($0)", outlines: [.init(address: "https://e.example/\($0)")])
    }
    var list = OPML(outlines: folders)
    var other = list
    for index in other.outlines.indices { other.outlines[index].outlines[0].address = "https://f.example/\(index)" }
    let added = list.add(other)
    #expect(added == 20_000 && list.outlines.count == 20_000 && list.outlines.allSatisfy { $0.outlines.count == 2 })
  }

  @Test func `a list that is cut off is not changed`() throws {
    let file = SubscriptionFile(path: folder.file("feeds.opml"))
    let cut = Data("<opml><body><outline text='A' xmlUrl='\(a)'/><outline text='B' xmlU".utf8)
    try cut.write(to: URL(fileURLWithPath: file.path))
    #expect(throws: SubscriptionFileError.cutOff(file.path)) {
      try file.update { $0.add(SubscribedFeed(address: b)) }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == cut)
  }

  @Test func `an outline that is too long when it is written is named in the error`() throws {
    let file = SubscriptionFile(path: folder.file("feeds.opml"))
    let many = (0..<255).map { "a\($0)=''" }.joined(separator: " ")
    let long = [
      "description='\(String(repeating: "&", count: 20_000))'",
      "\(many)",
    ]
    for attributes in long {
      let text = """
        <opml><body><outline text='A' xmlUrl='\(a)'/><outline title='Folder'>
        <outline title='The &quot;long&quot; one' \(attributes)/></outline></body></opml>
        """
      try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
      let error = #expect(throws: SubscriptionFileError.self) { try file.update { $0.add(SubscribedFeed(address: b)) } }
      guard case .overLimit(_, _, let outline) = error else {
        Issue.record("\(error as Any)")
        continue
      }
      #expect(outline == "The \"long\" one" && error?.description.contains("the outline \"The \"long\" one\"") == true)
      try file.update { $0.outlines[1].outlines = [] }
      #expect(try file.read()?.subscriptions.count == 1)
    }
  }

  @Test func `a list that couldn't be read again is not written`() throws {
    let file = SubscriptionFile(path: folder.file("feeds.opml"))
    try file.update { _ = $0.add(SubscribedFeed(address: b)) }
    let many = (0..<200_001).map { OPML.Outline(text: "", address: "http://e.example/\($0)") }
    let changes: [(inout OPML) -> Void] = [
      { [a] in _ = $0.add(SubscribedFeed(address: a, title: String(repeating: "x", count: 70_000))) },
      { [a] in _ = $0.add(SubscribedFeed(address: a, folders: Array(repeating: "f", count: 257))) },
      { $0.outlines += many },
    ]
    for change in changes {
      let error = #expect(throws: SubscriptionFileError.self) { try file.update(change) }
      guard case .overLimit = error else {
        Issue.record("\(error as Any)")
        continue
      }
      #expect(try file.read()?.subscriptions == [SubscribedFeed(address: b)])
    }
    #expect(throws: SubscriptionFileError.self) { try file.create(OPML(outlines: many), replacing: true) }
    #expect(try file.read()?.subscriptions == [SubscribedFeed(address: b)])
  }
}
