import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting

/// A server that changes its feed, and sometimes fails.
final class ScriptedServer {
  /// One state of the feed.
  struct Version {
    let number: Int
    let images: FeedImages
    let body: Data
  }

  enum Mood { case well, failing, confused, flaky }

  private(set) var version: Version
  /// The feed in the response to the last request, if it is a feed.
  private(set) var given: Version?
  var mood = Mood.well

  init() { version = Version(number: 0, images: [], body: FeedPayload.bytes(of: [])) }

  /// Publishes a new feed, with zero to three images.
  func change(_ random: inout SeededGenerator) {
    let number = version.number + 1
    let images = (0..<Int.random(in: 0...3, using: &random)).map { index in
      let text = Bool.random(using: &random) ? "Feed \(number), \"image\" \(index), ünïcode" : nil
      return FeedImage(
        id: UUID(uuidString: String(format: "00000000-0000-0000-%04X-%012X", index, number))!, description: text,
        location: index == 1 ? "Somewhere" : nil, url: URL(string: "https://images.example.com/\(number)/\(index).jpg")!
      )
    }
    version = Version(number: number, images: FeedImages(images), body: FeedPayload.bytes(of: images))
  }

  func reply(_ random: inout SeededGenerator) -> VirtualReply {
    given = nil
    let latency = StreamInstant.Stride.milliseconds(Int.random(in: 30...400, using: &random))
    let luck = Int.random(in: 0..<1000, using: &random)
    switch (mood, luck) {
    case (_, 0..<2): return .silence
    case (_, 2..<10): return .drop(after: latency)
    case (.failing, _):
      // With this status, even a valid feed must be rejected.
      let body = luck % 2 == 0 ? Data("down".utf8) : version.body
      return .answer(status: luck < 500 ? 500 : 503, body, after: latency)
    case (.confused, _): return .answer(nonsense(luck), after: latency)
    case (.flaky, 500...): return .drop(luck < 750 ? .receive : .truncated, after: latency)
    case (.well, _), (.flaky, _):
      given = version
      return .answer(version.body, after: latency)
    }
  }

  /// Status 200 with a body that is not a feed.
  private func nonsense(_ luck: Int) -> Data {
    switch luck % 6 {
    case 0: Data()
    case 1: Data("<html>Please log in</html>".utf8)
    case 2: Data("{\"items\": 1}".utf8)
    case 3: Data("{\"items\": [{\"id\": \"no\", \"image\": \"https://example.com/a\"}]}".utf8)
    case 4:
      Data(
        "{\"items\": [{\"id\": \"\(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))\", \"image\": \"/relative\"}]}"
          .utf8)
    default: version.body.dropLast(2)
    }
  }
}
