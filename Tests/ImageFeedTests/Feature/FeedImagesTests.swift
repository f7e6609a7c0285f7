import Foundation
import ImageFeed
import TestSupport
import Testing

@Suite(.settled) struct FeedImagesTests {
  private static let odd = [
    FeedImage(id: UUID(), description: nil, location: nil, url: URL(string: "https://example.com")!),
    FeedImage(id: UUID(), description: "", location: "Zürich\u{0} 👩‍👧", url: URL(string: "HTTP://EXAMPLE.com/ä?a#b")!),
    FeedImage(id: UUID(), description: "a", location: nil, url: URL(string: "https://[::1]:80/%20")!),
    FeedImage(id: UUID(), description: nil, location: "a", url: URL(string: "data:,")!),
  ]

  @Test func `FeedImages contains its images in order`() {
    let images = FeedImages(Self.odd)
    #expect(Array(images) == Self.odd)
    #expect(images[1].location == "Zürich\u{0} 👩‍👧")
    #expect(images.last?.url == URL(string: "data:,"))
    #expect(Array(FeedImages([])) == [])
  }

  @Test func `FeedImages equals another value only if the images are the same`() {
    let images = FeedImages(Self.odd)
    #expect(images == FeedImages(Array(images)))
    #expect(images.hashValue == FeedImages(Array(images)).hashValue)
    #expect(images != FeedImages(Self.odd.reversed()))
    #expect(images != FeedImages(Self.odd.dropLast()))
    #expect(images != [])
  }

  @Test func `texts that are equal only when joined, and nil and empty texts, are different`() {
    let id = UUID()
    func one(_ description: String?, _ location: String?) -> FeedImages {
      [FeedImage(id: id, description: description, location: location, url: Self.odd[0].url)]
    }
    let all = [one("ab", "c"), one("a", "bc"), one("abc", nil), one("abc", ""), one(nil, "abc"), one("", "abc")]
    #expect(Set(all).count == all.count)
  }

  @Test(.timeLimit(.minutes(5)))
  func `a hundred thousand images are compared and hashed as fast as one`() {
    let images = (0..<100_000).map { makeImage($0) }
    let (one, other) = (FeedImages(images), FeedImages(images))
    // Image by image, this would take an hour.
    var hits = 0
    for _ in 0..<1_000_000 where one == other && one.hashValue == other.hashValue { hits += 1 }
    #expect(hits == 1_000_000)
  }
}
