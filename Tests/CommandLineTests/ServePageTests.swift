import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import feed

/// The page's images: their proportions, their sizes, and posts with several images.
@Suite(.settled) struct ServePageTests {
  private let time = VirtualTimeScheduler()

  private func gallery(_ images: [FeedImage], _ names: [String] = ["Harbour walks"]) throws -> Gallery {
    let feeds = try names.enumerated().map { Gallery.Name(address: try url("http://h/\($0)"), title: $1) }
    let gallery = Gallery(feeds, every: .seconds(60), on: time, now: { Date(timeIntervalSince1970: 0) })
    for index in feeds.indices { gallery.put(FeedImages(images), of: index, at: Date(), .server) }
    return gallery
  }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func image(_ number: Int, post: FeedImage.Post = FeedImage.Post()) throws -> FeedImage {
    FeedImage(
      id: FeedImage.ID(UUID(), number: 1), description: "Image \(number)", url: try url("http://h/\(number).jpg"),
      post: post)
  }

  private func facts(_ width: Int, _ height: Int, color: UInt32 = 0x336699, moves: Bool = false) -> ImageFacts {
    ImageFacts(size: DecodedImage.Size(width: width, height: height), color: color, isAnimated: moves)
  }

  @Test func `no tile crops more than a tenth of its image`() {
    for width in stride(from: 10, through: 4000, by: 7) {
      let classes = LayoutRatio.classes(width: width, height: 600).split(separator: " ")
      guard classes.count == 1, let step = Int(classes[0].dropFirst()) else {
        #expect(classes.last == "whole", "\(width)")
        continue
      }
      let (ratio, tile) = (Double(width) / 600, LayoutRatio.ratio(step))
      #expect(1 - min(ratio, tile) / max(ratio, tile) <= LayoutRatio.mostCropped, "\(width)")
    }
    #expect(LayoutRatio.classes(width: 740, height: 2600) == "r0 whole", "a tall comic is shown whole")
    #expect(LayoutRatio.classes(width: 0, height: 5) == "unknown")
    for step in 0..<LayoutRatio.count { #expect(PageAssets.style.contains("#gallery>.r\(step){")) }
  }

  @Test func `a tile has the proportions, the color and the sizes of its image before the image loads`() throws {
    let gallery = try gallery([image(1)])
    let before = GalleryPage.text(gallery, from: 0)
    #expect(before.contains("class=\"unknown\"") && before.contains("400w,") && !before.contains("class=\"shade\""))
    gallery.learn(facts(1200, 800), of: try url("http://h/1.jpg"))
    let page = GalleryPage.text(gallery, from: 0)
    #expect(page.contains("class=\"r13\"") && page.contains("width=\"1200\" height=\"800\""))
    #expect(page.contains("<svg class=\"shade\" color=\"#336699\" aria-hidden=\"true\">"))
    let sizes = page.matches(of: /\?w=\d+ (\d+)w/).map(\.1)
    #expect(sizes == ["200", "400", "800", "1200"], "those that exist")
    #expect(!page.contains("style="), "which the policy forbids")
  }

  @Test func `a tile enlarges a small image at most to twice its size`() throws {
    #expect(LayoutRatio.classes(width: 40, height: 40) == "r8 whole small")
    #expect(LayoutRatio.classes(width: 300, height: 200) == "r13", "it fills a tile")
    #expect(LayoutRatio.classes(width: 1000, height: 100) == "r21 whole", "it is as wide as a tile")
    let gallery = try gallery([image(1)])
    gallery.learn(facts(40, 40), of: try url("http://h/1.jpg"))
    #expect(GalleryPage.text(gallery, from: 0).contains(/srcset="\/image\/[0-9a-f-]+\?w=800 40w" sizes="80px"/))
    #expect(PageAssets.style.contains(".small .image img { object-fit: scale-down; }"))
  }

  @Test func `a transparent image is shown on gray, on which dark and light drawings can be seen`() throws {
    let gallery = try gallery([image(1)])
    let size = DecodedImage.Size(width: 1200, height: 800)
    for (content, ground) in [(DecodedImage.Content.png, " clear"), (DecodedImage.Content.jpeg, "")] {
      let decoded = DecodedImage(size: size, originalSize: size, kind: .png, content: content, bytes: Chunk(), color: 0)
      let facts = ImageFacts(decoded, of: try ImageData(Data(MadeImage.png(width: 1, height: 1))))
      gallery.learn(facts, of: try url("http://h/1.jpg"))
      #expect(GalleryPage.text(gallery, from: 0).contains("class=\"r13\(ground)\""))
      let wish = SlideshowPage.Wish(query: GalleryQuery(), every: .seconds(5), hasClock: false)
      #expect(SlideshowPage.text(gallery, gallery.entries, wish).contains("class=\"frame\(ground)\""))
    }
  }

  @Test func `an animated image has a badge, and plays when it is enlarged`() throws {
    let gallery = try gallery([image(1)])
    gallery.learn(facts(2000, 1000, moves: true), of: try url("http://h/1.jpg"))
    let page = GalleryPage.text(gallery, from: 0)
    #expect(page.contains("<span class=\"badge\">animated</span>"))
    #expect(page.contains(/class="image" href="\/image\/[0-9a-f-]+"/), "its original")
  }

  @Test func `a post of several images is one card with their number, and a link and alt text for each`() throws {
    let images = (1...4).map { FeedImage.Post.Image(url: "http://h/\($0).jpg", alt: $0 == 3 ? "The <hut>" : nil) }
    let post = FeedImage.Post(title: "Four days", text: "We walked.", images: images)
    let gallery = try gallery([image(1, post: post)])
    let page = GalleryPage.text(gallery, from: 0)
    #expect(page.components(separatedBy: "<li id=\"p").count == 2)
    #expect(page.contains("<summary aria-label=\"4 images\">4</summary>"))
    #expect(page.contains("data-alt=\"The &lt;hut&gt;\">The &lt;hut&gt;</a>") && page.contains(">Image 4</a>"))
    #expect(page.contains("<p class=\"words\" hidden>We walked.</p>"))
    for image in gallery.entries[0].images {
      #expect(gallery.image(image.key)?.url == image.url, "each is served")
      #expect(page.contains("/image/\(image.key)?w=1600"))
    }
  }

  @Test func `the slideshow knows the other images of a post, in case the first can't be shown`() throws {
    let images = (1...3).map { FeedImage.Post.Image(url: "http://h/\($0).jpg", alt: nil) }
    let gallery = try gallery([image(1, post: FeedImage.Post(title: "Three days", images: images))])
    let wish = SlideshowPage.Wish(query: GalleryQuery(), every: .seconds(5), hasClock: false)
    let others = gallery.entries[0].others.map { "/image/\($0.key)?w=1600" }.joined(separator: " ")
    #expect(SlideshowPage.text(gallery, gallery.entries, wish).contains("data-others=\"\(others)\">"))
    let single = try self.gallery([image(1)])
    #expect(!SlideshowPage.text(single, single.entries, wish).contains("data-others"))
  }

  @Test func `each feed has a unique name in URLs`() throws {
    let gallery = try gallery([image(1)], ["Harbour walks", "harbour — WALKS!", "日記", "2"])
    #expect(gallery.feedNames == ["harbour-walks", "harbour-walks-2", "feed", "2"])
    #expect(place("harbour-walks-2", gallery) == 1 && place("none", gallery) == nil)
    let page = GalleryPage.text(gallery, from: 0, hasPast: true)
    #expect(page.contains("href=\"/feed/harbour-walks-2\""))
    let numbered = try self.gallery([image(1)], ["Sea 2", "Sea", "Sea", "2", "404"])
    #expect(numbered.feedNames == ["sea-2", "sea", "sea-3", "2", "404"])
    for (place, name) in numbered.feedNames.enumerated() { #expect(self.place(name, numbered) == place) }
    #expect(place("1", numbered) == 1 && place("5", numbered) == nil)
  }

  private func place(_ name: String, _ gallery: Gallery) -> Int? { gallery.place(of: gallery.feed(name)) }

  @Test func `a feed that was found by its name stays the same when titles and the list of feeds change`() throws {
    let gallery = try gallery([image(1)], ["Sea", "Sea"])
    let feed = gallery.feed("sea-2")
    gallery.follow([Gallery.Name(address: try url("http://h/1"), title: "Sea")])
    #expect(gallery.place(of: feed) == 0 && gallery.feed("sea-2").address == nil)
    gallery.follow([
      Gallery.Name(address: try url("http://h/0"), title: "Sea"),
      Gallery.Name(address: try url("http://h/1"), title: nil),
    ])
    #expect(gallery.feed(feed.permanentName).address == feed.address)
    var query = GalleryQuery()
    query.feed = gallery.feed("sea")
    #expect(query.address() == "/?feed=sea")
    for path in ["/feed.json", "/feed.atom", "/slideshow"] {
      #expect(query.address(of: path) == "\(path)?feed=\(gallery.feed("sea").permanentName)")
    }
  }

  @Test func `the search form keeps the invisible characters of the words and of the folder`() {
    var query = GalleryQuery()
    (query.words, query.folder) = ("so\u{AD}ft", "Se\u{F8FF}a & \"sky\"")
    let form = GalleryFilter.search(query)
    #expect(form.contains("name=\"q\" value=\"so\u{AD}ft\""))
    #expect(form.contains("name=\"folder\" value=\"Se\u{F8FF}a &amp; &quot;sky&quot;\""))
  }

  @Test func `the slideshow shows all images and starts over`() throws {
    let gallery = try gallery([image(1), image(2), image(3)])
    var (wish, seen) = (
      SlideshowPage.Wish(query: GalleryQuery(), every: .seconds(5), hasClock: true), [Substring]()
    )
    for _ in 0..<4 {
      let page = SlideshowPage.text(gallery, gallery.entries, wish)
      seen.append(try #require(page.firstMatch(of: /alt="([^"]+)"/)?.1))
      let next = try #require(
        page.firstMatch(of: /content="5;url=\/slideshow\?every=5s&amp;clock=1&amp;at=([^"]+)"/)?.1)
      wish.card = String(next)
    }
    #expect(seen == ["Image 1", "Image 2", "Image 3", "Image 1"])
    wish.card = "gone"
    #expect(SlideshowPage.text(gallery, gallery.entries, wish).contains("alt=\"Image 1\""))
    #expect(SlideshowPage.text(gallery, [], wish).contains("There are no images."))
  }

  @Test func `an item that its feed lists twice has two cards, and the slideshow continues after both`() throws {
    let twice = try image(1)
    let gallery = try gallery([twice, image(2), twice, image(3)])
    let cards = gallery.entries.map(\.card)
    #expect(Set(cards).count == 4)
    var (wish, seen) = (SlideshowPage.Wish(query: GalleryQuery(), every: .seconds(5), hasClock: false), [Substring]())
    for _ in 0..<4 {
      let page = SlideshowPage.text(gallery, gallery.entries, wish)
      seen.append(try #require(page.firstMatch(of: /alt="([^"]+)"/)?.1))
      wish.card = String(try #require(page.firstMatch(of: /&amp;at=([^"]+)"/)?.1))
    }
    #expect(seen == ["Image 1", "Image 2", "Image 1", "Image 3"])
    gallery.put(FeedImages([twice, twice, try image(4)]), of: 0, at: Date(), .server)
    #expect(Set(gallery.entries.map(\.card)).isSuperset(of: [cards[0], cards[2]]), "they keep their names")
  }

  @Test func `a frame fills its screen if at most a tenth is cropped, and else shows the whole image`() throws {
    let frame = try FrameImage(width: "800", height: "480", palette: "bw")
    #expect(frame.box(for: DecodedImage.Size(width: 1600, height: 900)) == DecodedImage.Size(width: 853, height: 480))
    #expect(frame.box(for: DecodedImage.Size(width: 600, height: 900)) == DecodedImage.Size(width: 320, height: 480))
    for (width, palette) in [
      ("0", "bw"), ("5000", "bw"), ("x", "bw"), ("8", "none"), ("8", "ffffff"), ("8", "fffff,000000"),
    ] {
      #expect(throws: FrameImage.Problem.self) { try FrameImage(width: width, height: "8", palette: palette) }
    }
    #expect(try FrameImage(width: nil, height: nil, palette: "000000,FFffff,ff0000").palette.count == 3)
  }
}
