import Foundation
import ImageFeed
import ImageFeedTesting

/// Feeds that identify themselves: every image contains the same number, and the number determines how many images
/// there are.
enum Generation {
  static func images(_ number: Int) -> [FeedImage] {
    (0..<1 + number * 7 % 40).map { place in
      FeedImage(
        id: UUID(uuidString: String(format: "%08X-0000-4000-8000-%012X", number, place))!, description: "\(number)",
        location: place.isMultiple(of: 2) ? "place \(place)" : nil,
        url: URL(string: "https://images.example.com/\(number)/\(place).jpg")!)
    }
  }

  static func document(_ number: Int) -> Data { FeedPayload.bytes(of: images(number)) }

  /// The number of a generation; `nil` if images are missing or are from another generation.
  static func number(of images: some Collection<FeedImage>) -> Int? {
    guard let text = images.first?.description, let number = Int(text) else { return nil }
    return images.elementsEqual(self.images(number)) ? number : nil
  }

  /// The number of the generation that a line of `feed`'s JSON shows.
  static func number(ofLine line: String) -> Int? {
    guard let shown = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else { return nil }
    return number(
      of: shown.feed.map { FeedImage(id: $0.id, description: $0.description, location: $0.location, url: $0.url) })
  }

  private struct Line: Decodable {
    struct Image: Decodable {
      let id: UUID
      let description: String?
      let location: String?
      let url: URL
    }
    let feed: [Image]
  }
}
