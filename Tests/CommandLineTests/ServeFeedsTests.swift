import FeedPolling
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import PlainText
import TestSupport
import Testing

@testable import feed

/// The feeds that a gallery offers to programs, made from feeds with the same ids, URLs and images.
@Suite(.settled) struct ServeFeedsTests {
  private let time = VirtualTimeScheduler()
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  /// A gallery of feeds at these URLs, each with `images`.
  private func gallery(_ addresses: [String], _ images: [FeedImage]) throws -> Gallery {
    let names = try addresses.map { Gallery.Name(address: try #require(URL(string: $0)), title: nil) }
    let gallery = Gallery(names, every: .seconds(60), on: time, now: { now })
    for index in names.indices { gallery.put(FeedImages(images), of: index, at: now, .server) }
    return gallery
  }

  private func image(_ number: UInt8, _ description: String, at address: String) throws -> FeedImage {
    let id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
    return FeedImage(id: id, description: description, url: try #require(URL(string: address)))
  }

  private func part(_ gallery: Gallery, token: String? = nil) -> GalleryFeeds.Part {
    GalleryFeeds.Part(gallery: gallery, entries: gallery.entries, token: token)
  }

  private func items(_ gallery: Gallery, token: String? = nil) throws -> [String: Any] {
    let text = part(gallery, token: token).json(at: "http://h")
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func `a gateway says why it can't show the saved images of a feed, and keeps those that it shows`() throws {
    let address = try #require(URL(string: "http://h/1"))
    let version = FeedVersion(now + 60)
    let feed = FleetFeed(
      address: address, record: FeedRecord(health: FeedHealth(address: address)), version: version, document: nil)
    func origin(_ gallery: Gallery) -> Gallery.Origin {
      Gateway.origin(of: feed, feed.images, shown: gallery.sources[0], heard: now + 90).0
    }
    guard case .nowhere(reason: "the saved images can't be read") = origin(try gallery(["http://h/1"], [])) else {
      Issue.record("the feed looks healthy")
      return
    }
    guard case .saved(now, reason: _) = origin(try gallery(["http://h/1"], [image(1, "a", at: "http://h/a.png")]))
    else {
      Issue.record("earlier images look current")
      return
    }
  }

  @Test func `served feeds have unique ids, and an image's first feed keeps the original id`() throws {
    let image = try image(1, "a", at: "http://h/a.png")
    let ids = try ["http://h/1", "http://h/2"].map { first in
      let both = try gallery([first, "http://h/3"], [image])
      let ids = try #require(try items(both)["items"] as? [[String: Any]]).compactMap { $0["id"] as? String }
      #expect(Set(ids).count == 2 && ids.contains("\(image.id)"))
      let atom = part(both).atom(at: "http://h")
      let names = atom.split(separator: "\n").filter { $0.hasPrefix("<id>urn:") }
      #expect(Set(names).count == 2)
      return ids
    }
    // The name of another feed doesn't affect an id.
    #expect(ids[0] == ids[1])
  }

  @Test func `an image that occurs twice in a feed has two cards, and paging continues after each`() throws {
    let images = try (0..<3).map { try image($0, "number \($0)", at: "http://h/same.png") }
    let gallery = try gallery(["http://h/1", "http://h/2"], images)
    let cards = gallery.entries.map(\.card)
    #expect(Set(cards).count == 6 && Set(gallery.entries.map(\.key)).count == 1)
    let page = GalleryPage.text(gallery, from: 0, after: cards[4])
    #expect(page.components(separatedBy: "<li id=").count == 2)
    #expect(page.contains("<li id=\"p\(cards[5])\" "))
  }

  @Test func `an image in several feeds is loaded for a feed that may access its address`() throws {
    let image = try image(1, "a", at: "http://10.0.0.1/a.png")
    let addresses = ["http://10.0.0.1/", "https://web.example/", "https://unknown.example/"]
    let marks: [Bool?] = [true, false, nil]
    func namers(_ order: [Int]) throws -> [URL] {
      let gallery = try gallery(addresses, [])
      for index in order {
        let images = FeedImages([image]).marked(isFromPrivateNetwork: marks[index])
        gallery.put(images, of: index, at: now, .server)
      }
      let key = try #require(gallery.entries.first?.key)
      return try #require(gallery.image(key)).namers.map(\.address)
    }
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
      #expect(try namers(order).map(\.absoluteString) == [addresses[0]])
    }
    #expect(try namers([1, 2]).map(\.absoluteString) == [addresses[2]])
    #expect(try namers([1]).map(\.absoluteString) == [addresses[1]])
  }

  @Test func `changing the list of feeds keeps the state of the remaining feeds`() throws {
    let gallery = try gallery(["http://h/1", "http://h/2", "http://h/3"], [])
    for number in UInt8(0)..<3 {
      let images = [try image(number, "of \(number)", at: "http://h/\(number).png")]
      gallery.put(FeedImages(images), of: Int(number), at: now, .server)
    }
    let key = try #require(gallery.sources[2].entries.first?.key)
    let names = try ["http://h/3", "http://h/4", "http://h/2"].map {
      Gallery.Name(address: try #require(URL(string: $0)), title: nil)
    }
    gallery.arrange(names, forgetting: [names[2].address])
    #expect(gallery.sources.map(\.address) == names.map(\.address))
    #expect(gallery.entries.map(\.description) == ["of 2"] && gallery.entries.map(\.source) == [0])
    #expect(gallery.image(key)?.namers.map(\.address) == [names[0].address])
    #expect(gallery.sources.map(\.isLoading) == [false, true, true])
    #expect(GalleryPage.text(gallery, from: 0).contains(" data-loading=\"1\">"), "an open page waits for them")
    for index in 1...2 { gallery.put(nil, of: index, at: now, .nowhere(reason: "gone")) }
    #expect(!GalleryPage.text(gallery, from: 0).contains("data-loading"))
  }

  @Test func `former and current items keep their feeds when the list of feeds changes`() throws {
    let gallery = try gallery(["http://h/1", "http://h/2"], [image(1, "current", at: "http://h/c.png")])
    let kept = gallery.sources[1].address
    func seen(_ number: UInt8, of address: URL) throws -> Gallery.Entry {
      let image = try image(number, "past", at: "http://h/\(number).png")
      return try #require(gallery.entry(SeenImage(address: address, image: image, firstSeen: now, isStarred: true)))
    }
    let (removed, former) = (try seen(2, of: gallery.sources[0].address), try seen(3, of: kept))
    let entries = gallery.entries + [removed, former]
    gallery.follow([Gallery.Name(address: kept, title: nil)])
    let entry = try #require(gallery.entry(card: former.card))
    #expect(entry.source == 0 && gallery.isStarred(entry) && gallery.image(entry.key) != nil)
    #expect(gallery.entry(card: removed.card) == nil && gallery.image(removed.key) == nil)
    // The entries of a page that was requested before the change.
    #expect(gallery.isStarred(former) && !gallery.isNew(former))
    let placed = gallery.placed(entries)
    #expect(placed.map(\.source) == [0, 0] && placed.map(\.description) == ["current", "past"])
    gallery.begin(with: [])
    #expect(gallery.entry(card: former.card) == nil && gallery.placed(entries).isEmpty)
  }

  @Test func `the card and the image of an item that left its feed stay available`() throws {
    let gallery = try gallery(["http://h/1"], [image(1, "a", at: "http://h/a.png")])
    let old = gallery.entries[0]
    gallery.put(FeedImages([try image(2, "b", at: "http://h/b.png")]), of: 0, at: now, .server)
    #expect(gallery.image(old.key)?.namers.count == 1 && gallery.entry(card: old.card)?.description == "a")
    #expect(gallery.entries.map(\.description) == ["b"])
  }

  @Test func `when former items have too many images, the older half is dropped`() throws {
    let gallery = try gallery(["http://h/1"], [])
    let address = gallery.sources[0].address
    let images = (0..<50).map { FeedImage.Post.Image(url: "http://h/\($0).png") }
    let url = try #require(URL(string: images[0].url))
    let count = Gallery.Past.most / images.count
    let cards = try (0...count).map { number in
      let image = FeedImage(id: .init(name: "\(number)", in: address), url: url, post: .init(images: images))
      return try #require(gallery.entry(SeenImage(address: address, image: image, firstSeen: now))).card
    }
    #expect(gallery.entry(card: cards[count / 2]) == nil)
    #expect(gallery.entry(card: cards[count / 2 + 1]) != nil && gallery.entry(card: cards.last ?? "") != nil)
    #expect(gallery.image(gallery.key(url))?.feeds.count == 1)
  }

  @Test func `a card keeps its id when its text changes`() throws {
    let gallery = try gallery(["http://h/1"], [image(1, "before", at: "http://h/a.png")])
    let card = gallery.entries[0].card
    gallery.put(FeedImages([try image(1, "after", at: "http://h/a.png")]), of: 0, at: now, .server)
    #expect(gallery.entries.map(\.card) == [card] && gallery.entries[0].description == "after")
  }

  @Test func `the page names an unreachable feed once, and shows no warning when all feeds load`() throws {
    let gallery = try gallery(["http://h/1", "http://h/2", "http://h/3"], [image(1, "a", at: "http://h/a.png")])
    gallery.put(nil, of: 1, at: now, .saved(now, reason: "gone"))
    let page = GalleryPage.text(gallery, from: 2)
    let since = "has been unreachable since <time class=\"clock\" datetime=\"\(now.stamp)\">\(now.dayAndTime)</time>"
    #expect(page.contains("<bdi>http://h/2</bdi> \(since); its saved images are shown. <a href=\"/health\">Why?</a>"))
    #expect(page.components(separatedBy: "unreachable").count == 2 && !page.contains("gone"))
  }

  @Test func `a failing feed is named by its URL if another feed of its host loads, with the port or without`() throws {
    let gallery = try gallery(["http://h/1", "http://H:80/2"], [])
    gallery.put(nil, of: 1, at: now, .nowhere(reason: "gone"))
    #expect(gallery.sources[1].failingName(among: gallery.sources) == "http://H:80/2")
    gallery.put(nil, of: 0, at: now, .nowhere(reason: "gone"))
    #expect(gallery.sources[1].failingName(among: gallery.sources) == "H:80")
  }

  @Test func `an event has the number of failing feeds, and names the first ten`() throws {
    let gallery = try gallery((0..<12).map { "http://h/\($0)" }, [])
    for index in gallery.sources.indices { gallery.put(nil, of: index, at: now, .nowhere(reason: "gone")) }
    #expect(gallery.present.failing == 12 && gallery.present.away.count == 10)
  }

  @Test func `a feed's own title is its name while the list has none, even if no image changes`() throws {
    let address = try #require(URL(string: "http://h/1"))
    func feed(_ title: String) throws -> Feed {
      let text = """
        {"version": "https://jsonfeed.org/version/1.1", "title": "\(title)", "items": [{"id": "1", "image": "/a.png"}]}
        """
      let images = try [any FeedFormat].web.images(of: WebDocument(body: Data(text.utf8), url: address))
      return Feed(images, source: .remote)
    }
    let gallery = Gallery([Gallery.Name(address: address, title: nil)], every: .seconds(60), on: time, now: { now })
    gallery.take(.success(try feed("Walks")), from: 0)
    let version = gallery.version
    gallery.take(.success(try feed("Long walks")), from: 0)
    #expect(gallery.sources[0].name == "Long walks" && gallery.version == version + 1, "open pages are told")
    gallery.follow([Gallery.Name(address: address, title: nil)])
    #expect(gallery.sources[0].name == "Long walks")
    gallery.follow([Gallery.Name(address: address, title: "Listed")])
    gallery.take(.success(try feed("Short walks")), from: 0)
    #expect(gallery.sources[0].name == "Listed")
    gallery.follow([Gallery.Name(address: address, title: nil)])
    #expect(gallery.sources[0].name == "Walks", "the title that came with its images")
    gallery.take(.success(try feed("Short walks")), from: 0)
    #expect(gallery.sources[0].name == "Short walks")
  }

  @Test func `an image is served until no feed lists it`() throws {
    let both = try image(1, "a", at: "http://h/a.png")
    let gallery = try gallery(["http://h/1", "http://h/2"], [both, both])
    let key = gallery.entries[0].key
    func listers() -> [String]? { gallery.image(key)?.feeds.map(\.address.path) }
    #expect(listers() == ["/1", "/2"])
    gallery.put(FeedImages([try image(2, "b", at: "http://h/b.png")]), of: 0, at: now, .server)
    #expect(listers() == ["/2"])
    gallery.follow([Gallery.Name(address: gallery.sources[0].address, title: nil)])
    #expect(listers() == ["/1"], "its open pages still show it")
    gallery.follow([])
    #expect(listers() == nil)
  }

  @Test func `URLs that differ only in their password are two series in the metrics`() throws {
    let gallery = try gallery(["http://u:a@h/f", "http://u:b@h/f", "http://h/f"], [])
    let cache = ImageCache(store: InMemoryImageStore(), on: time)
    let images = ServedImages(
      SizedImageLoader(
        ImageLoader(client: VirtualNetwork(on: time), cache: cache), cache: cache, decoder: ImageDecoder(on: time)),
      ImageFiles(DiskImageStore(folder: "/nowhere"), on: time))
    let lines = GalleryMetrics.text(gallery, images, connections: 0, waiting: 0).split(separator: "\n").filter {
      !$0.hasPrefix("#")
    }
    let series = lines.map { $0.split(separator: " ").dropLast().joined(separator: " ") }
    #expect(Set(series).count == series.count)
    #expect(
      series.contains("feed_up{feed=\"http://u:…@h/f\"}") && series.contains("feed_up{feed=\"http://u:…@h/f (2)\"}"))
  }

  @Test func `served feeds leave out the credentials in an image's URL`() throws {
    let gallery = try gallery(["http://h/1"], [image(1, "a", at: "http://user:secret@h/a.png?b=c")])
    for text in [part(gallery).json(at: "http://h"), part(gallery).atom(at: "http://h")] {
      #expect(text.contains("http://h/a.png?b=c") && !text.contains("secret"))
    }
  }

  @Test func `an item's place is a line of its own after its text, in JSON and in Atom`() throws {
    let address = try #require(URL(string: "http://h/a.png"))
    let image = FeedImage(id: UUID(), description: "A <pier>", location: "Hull", url: address)
    let gallery = try gallery(["http://h/1"], [image])
    let feed = try #require(try items(gallery)["items"] as? [[String: Any]])
    #expect(feed.first?["content_text"] as? String == "A <pier>\nHull")
    #expect(part(gallery).atom(at: "http://h").contains("<summary>A &lt;pier&gt;\nHull</summary>"))
  }

  @Test func `line breaks in a text stay in the summaries of Atom, and are spaces in titles and on the page`() throws {
    let address = try #require(URL(string: "http://h/a.png"))
    let image = FeedImage(id: UUID(), description: "A pier\r\nat\tdawn", location: "Hull\nEngland", url: address)
    let gallery = try gallery(["http://h/1"], [image])
    let atom = part(gallery).atom(at: "http://h")
    #expect(atom.contains("<title>A pier at dawn</title>"))
    #expect(atom.contains("<summary>A pier\nat dawn\nHull\nEngland</summary>"))
    let wish = SlideshowPage.Wish(query: GalleryQuery(), every: .seconds(30), hasClock: false)
    let page = GalleryPage.text(gallery, from: 0)
    let show = SlideshowPage.text(gallery, gallery.entries, wish)
    #expect(page.contains("<bdi>A pier at dawn</bdi>") && page.contains("hidden>Hull England</p>"))
    #expect(show.contains("<bdi>A pier at dawn</bdi>"))
  }

  @Test func `for a reader with the token, the feed's own URLs contain the token`() throws {
    let gallery = try gallery(["http://h/1"], [])
    let feed = try items(gallery, token: "sesame")
    #expect(feed["feed_url"] as? String == "http://h/feed.json?token=sesame")
    #expect(feed["home_page_url"] as? String == "http://h/?token=sesame")
    let atom = part(gallery, token: "sesame").atom(at: "http://h")
    #expect(atom.contains("<link rel=\"self\" href=\"http://h/feed.atom?token=sesame\"/>"))
    #expect(atom.contains("<id>http://h/</id>"))
  }

  @Test(arguments: [
    ("127.0.0.1", ["localhost.", "LocalHost.:80", "127.0.0.2", "[0:0:0:0:0:0:0:1]:80", "[::ffff:127.0.0.1]"], true),
    ("127.0.0.1", [".", "", "localhost..", "127.1", "2130706433", "0.0.0.0", "[::ffff:10.0.0.1]", "[::]"], false),
    ("0:0:0:0:0:0:0:1", ["[::1]", "127.0.0.1"], true),
    ("2001:db8:0::1", ["[2001:DB8::1]", "[2001:db8::2]", "10.0.0.1", "feeds.home."], true),
  ])
  func `a host name is recognized in every spelling`(_ host: String, _ names: [String], _ isKnown: Bool) {
    let access = AccessRules(host: host, token: nil, names: ["Feeds.Home."])
    for name in names { #expect(access.knows(name) == isKnown, "\(name)") }
  }

  @Test(
    arguments: [
      "Feeds.Home.:8443", "https://feeds.home/", "feeds.home/feed.json", "feeds.home", "[fd00::1]:80", "fd00::1",
    ])
  func `an allowed host name may be a URL or have a port`(text: String) throws {
    let access = AccessRules(host: "127.0.0.1", token: nil, names: [try AccessRules.allowedName(text)])
    #expect(access.knows(text.contains("fd00") ? "[fd00::1]:8443" : "feeds.home:8443"))
  }

  @Test(arguments: ["*.home", "a.example,b.example", "bücher.example", "", " ", "a b", "ftp://feeds.home/"])
  func `an allowed host name that no request can have is refused`(text: String) {
    #expect(throws: (any Error).self) {
      try FeedCommand.parseAsRoot(["serve", "https://example.com/feed", "--allow-host", text])
    }
  }
}
