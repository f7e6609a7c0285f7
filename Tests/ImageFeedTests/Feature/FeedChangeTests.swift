import Foundation
import ImageFeed
import TestSupport
import Testing

/// The reported difference between two lists of images.
@Suite(.settled) struct FeedChangeTests {
  /// One image for each letter, named by it; a capital letter has another description.
  private func images(_ letters: String) -> FeedImages {
    FeedImages(
      letters.map { letter in
        let name = letter.lowercased()
        let number = String(letter.asciiValue! | 0x20, radix: 16)
        return FeedImage(
          id: UUID(uuidString: "00000000-0000-0000-0000-0000000000\(number)")!,
          description: letter.isUppercase ? "another" : nil, url: URL(string: "https://a/\(name).png")!)
      })
  }

  private func change(_ old: String, _ new: String) -> FeedChange {
    FeedChange(from: images(old), to: CachedFeed(images: images(new), timestamp: noon))
  }

  private func moves(_ old: String, _ new: String) -> [[Int]] { change(old, new).moved.map { [$0.from, $0.to] } }

  @Test func `added images have their new index, and removed ones are listed`() {
    let change = change("abcd", "xbdy")
    #expect(change.added == [0, 3] && change.moved.isEmpty && change.edited.isEmpty)
    #expect(change.removed.map(\.url.lastPathComponent) == ["a.png", "c.png"])
    #expect(change.feed?.images == images("xbdy"))
  }

  @Test func `the moved images are the fewest that explain the new order`() {
    #expect(moves("abcd", "abcd") == [])
    #expect(moves("abcd", "dabc") == [[3, 0]])
    #expect(moves("abcd", "bcda") == [[0, 3]])
    #expect(moves("abcdef", "fabedc").count == 3)
    #expect(moves("abc", "xaby") == [])
    #expect(moves("abc", "cxb") == [[2, 0]] || moves("abc", "cxb") == [[1, 2]])
    let reversed = moves("abcdefgh", "hgfedcba")
    #expect(reversed.count == 7)
  }

  @Test func `an image with a changed text is edited in place`() {
    #expect(change("abc", "aBc").edited == [1])
    #expect(change("abc", "Cab").edited == [0] && moves("abc", "Cab") == [[2, 0]])
  }

  @Test func `a repeated id counts once`() {
    #expect(change("aab", "ba").removed.isEmpty && change("ab", "abb").added.isEmpty)
    #expect(change("", "aa").added == [0])
  }

  @Test func `deleting a feed removes all its images`() {
    let change = FeedChange(from: images("ab"), to: nil)
    #expect(change.feed == nil && change.removed.count == 2 && change.added.isEmpty)
  }
}
