import FeedStream
import Foundation
import GRDB
import ImageFeed
import TestSupport

@testable import feed

let sampleURL = URL(string: "http://127.0.0.1:8000/feed.json")!

let sampleImages = [
  FeedImage(
    id: UUID(uuidString: "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6")!, description: "A \"view\"", location: "Über\\all",
    url: URL(string: "https://url-1.com/a")!),
  FeedImage(
    id: UUID(uuidString: "BA298A85-6275-48D3-8315-9C8F7C1CD109")!, url: URL(string: "https://url-2.com")!),
]

/// 2026-03-01T12:00:00Z.
let sampleDate = Date(timeIntervalSince1970: 1_772_366_400)

let refused = RemoteFeedError.connectivity(HTTPError(.connect, host: "127.0.0.1:8000", cause: "Connection refused"))

func cached(_ images: [FeedImage] = sampleImages, age: Duration = .seconds(180)) -> Feed {
  Feed(images: images, source: .cache(savedAt: sampleDate, age: age, reason: refused))
}

/// Calls `body` with a folder that is removed afterwards.
func withFolder<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> R
) async throws -> R {
  let folder = TemporaryFolder()
  defer { withExtendedLifetime(folder) {} }
  return try await body(URL(filePath: folder.path))
}

/// Calls `body` with an origin and the path of a future cache file; both are removed afterwards.
func withOrigin<R>(
  serving document: Data, isolation: isolated (any Actor)? = #isolation,
  _ body: (LoopbackOrigin, _ url: String, _ cache: String) async throws -> R
) async throws -> R {
  try await withFolder { folder in
    // After the origin has stopped, no other test's server gets its port.
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let origin = try LoopbackOrigin(serving: document, port: reserved.number)
    let url = try await origin.start()
    do {
      let result = try await body(origin, url.absoluteString, folder.appendingPathComponent("feeds.db").path)
      await origin.stop()
      return result
    } catch {
      await origin.stop()
      throw error
    }
  }
}

/// A feed with one image.
func document(_ description: String) -> Data {
  let id = "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6"
  let item = ["id": id, "description": description, "image": "https://url-1.com"]
  return try! JSONEncoder().encode(["items": [item]])
}

/// Overwrites a cache file except for its header.
func damage(_ cache: String) throws {
  let file = try FileHandle(forUpdating: URL(fileURLWithPath: cache))
  let end = try file.seekToEnd()
  try file.seek(toOffset: 100)
  try file.write(contentsOf: Data(repeating: 0xA5, count: Int(end) - 100))
  try file.close()
}

/// Makes every feed of a cache file older.
func age(_ cache: String, by seconds: Double) throws {
  let file = try DatabaseQueue(path: cache)
  try file.writeWithoutTransaction { try $0.execute(sql: "UPDATE feed SET timestamp = timestamp - \(seconds)") }
  try file.close()
}

extension GalleryPage {
  /// The page of the latest images.
  static func text(_ gallery: Gallery, from start: Int, after last: String? = nil, hasPast: Bool = false) -> String {
    text(gallery, Part(latestOf: gallery, from: start, after: last, hasPast: hasPast))
  }
}
