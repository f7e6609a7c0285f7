import Foundation
import TestSupport
import Testing

@testable import ImageFeed

@Suite(.settled) struct ImagePackTests {
  private static let uuid = UUID(uuidString: "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6")!

  private static let odd = FeedImages([
    FeedImage(id: uuid, description: "", location: "Zürich 👩‍👧\u{0}", url: URL(string: "https://e.com/a%20b?c=d&e#f")!),
    FeedImage(
      id: .init(uuid, number: .max), location: "", url: URL(string: "http://[::1]:80/")!,
      published: Date(timeIntervalSince1970: -1)),
    FeedImage(id: UUID(), description: String(repeating: "long ", count: 40_000), url: URL(string: "https://e.com")!),
    FeedImage(
      id: UUID(), description: "", url: URL(string: "https://e.com/post")!,
      post: .init(
        title: "", text: "Zürich\u{0}", link: URL(string: "https://e.com/a?b"),
        images: [.init(url: "https://e.com/post"), .init(url: "https://e.com/2", alt: "two")])),
    FeedImage(
      id: UUID(), description: "Same", url: URL(string: "http://[::2]:80/")!, post: .init(title: "Same", alt: "alt")),
    FeedImage(id: UUID(), url: URL(string: "https://e.com/last")!, published: Date(timeIntervalSince1970: 1e9)),
  ])

  private func packs(of images: FeedImages) -> [(count: Int, bytes: [UInt8])] {
    var packs: [(Int, [UInt8])] = []
    images.forEachPack { count, bytes in
      packs.append((count, Array(bytes)))
      return true
    }
    return packs
  }

  private func images(in packs: [(count: Int, bytes: [UInt8])]) -> FeedImages? {
    var builder = FeedImages.Builder(count: 0)
    for pack in packs {
      guard pack.bytes.withUnsafeBytes({ builder.append(pack: $0, of: pack.count) }) else { return nil }
    }
    return builder.finish()
  }

  @Test func `images decode as they were packed`() {
    #expect(images(in: packs(of: Self.odd)) == Self.odd)
    #expect(packs(of: []).isEmpty)
    let many = makeFeed(3000).images
    let parts = packs(of: many)
    #expect(parts.count > 2 && parts.dropLast().allSatisfy { $0.bytes.count >= ImagePack.size })
    #expect(parts.allSatisfy { $0.bytes.count < 2 * ImagePack.size })
    #expect(images(in: parts) == many)
  }

  @Test func `titles, posts and alternative texts decode as they were packed`() throws {
    let images = try #require(self.images(in: packs(of: Self.odd)))
    #expect(Array(images) == Array(Self.odd))
    #expect(images[3].title == "" && images[3].images.map(\.alt) == [nil, "two"] && images[4].title == "Same")
    let bytes = Self.odd.bytes
    #expect(bytes.withUnsafeBytes { FeedImages(bytes: $0) }.map(Array.init) == Array(Self.odd))
    for end in bytes.indices.dropLast(1) {
      let part = bytes[..<end].withUnsafeBytes { FeedImages(bytes: $0) }
      #expect(part == nil || part == Self.odd)
    }
    let plain = FeedImages(Self.odd.prefix(2))
    #expect(plain.bytes[0] == 1, "readers of before read images without posts")
  }

  @Test func `a pack's header has the size that the file format states`() {
    #expect(MemoryLayout<ImagePack.Head>.size == ImagePack.Head.size)
    #expect(MemoryLayout<ImagePack.Head>.stride == ImagePack.Head.size)
  }

  @Test func `forEachPack stops when its closure returns false`() {
    var calls = 0
    makeFeed(3000).images.forEachPack { _, _ in
      calls += 1
      return false
    }
    #expect(calls == 1)
  }

  @Test func `a damaged pack is refused or decodes to other images, and never crashes`() {
    let pack = packs(of: makeFeed(20).images)[0]
    #expect(images(in: [(pack.count, pack.bytes.dropLast())]) == nil)
    #expect(images(in: [(pack.count, pack.bytes + [0])]) == nil)
    for count in [-1, 19, 21, .max] { #expect(images(in: [(count, pack.bytes)]) == nil) }
    for place in pack.bytes.indices {
      for bit in [1, 0x80] as [UInt8] {
        var bytes = pack.bytes
        bytes[place] ^= bit
        #expect(images(in: [(pack.count, bytes)])?.count ?? 20 == 20)
      }
    }
  }
}
