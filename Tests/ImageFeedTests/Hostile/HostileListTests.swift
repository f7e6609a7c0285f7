import Foundation
import ImageFeed
import TestSupport
import Testing

/// All of `feed load` against origins that misbehave in HTTP or below it. For each, checks the message, the time and
/// the memory. A feed that was saved before is shown instead, and must still be saved.
///
/// Tests of the same at the level of `ImageFeed` are in `HostileOriginTests`, `HTTPCompressionTests`, `HTTPRedirectTests`,
/// `HTTPTrustTests` and `HostilePayloadTests`. Prints a table with a line for each row.
@Suite(.settled, .serialized) struct HostileListTests {
  /// The permitted memory beyond the feed itself, in MiB.
  private static let roomForMemory = 100.0
  private static let saved = [
    FeedImage(id: UUID(), description: "saved before", url: URL(string: "https://b.example/1")!)
  ]

  @Test(.timeLimit(.minutes(5)), arguments: transportRows + trustRows + payloadRows)
  func `a hostile server costs few resources, and never the saved feed`(_ row: HostileRow) throws {
    let folder = TemporaryFolder()
    let stand = try row.origin()
    defer { stand.stop() }
    let path = folder.file("feeds.db")
    let before = CachedFeed(images: Self.saved, timestamp: Date(timeIntervalSinceNow: -60))
    let store = SQLiteFeedStore(path: path)
    _ = try store.replace(for: stand.url, with: before, now: Date())
    store.close()

    let load = try MeasuredRun(
      ["load", stand.url.absoluteString, "--timeout", "\(row.timeout)ms"], in: folder,
      environment: stand.authorities.map { ["SSL_CERT_FILE": $0] } ?? [:])

    let after = SQLiteFeedStore(path: path)
    defer { after.close() }
    let kept = try #require(try after.retrieve(for: stand.url))
    #expect(load.status == 0, "\(load.errors)")
    #expect(load.errors == "")
    var said = "shown"
    switch row.outcome {
    case .refused(let reason):
      said = load.output.split(separator: "\n").first { $0.hasPrefix("Not the latest: ") }.map(String.init) ?? ""
      #expect(said.contains(reason))
      #expect(load.output.contains("saved before"))
      #expect(kept.images == FeedImages(Self.saved))
    case .taken(let count):
      #expect(load.output.hasPrefix("\(count) image"))
      #expect(!load.output.contains("saved before"))
      #expect(kept.images.count == count)
    }
    // A busy machine needs more time.
    #expect(load.seconds < Double(min(row.timeout, 10_000)) / 1_000 + 10)
    if Sanitizer.current == nil { #expect(load.peak < row.feedSize + Self.roomForMemory) }
    stand.check()
    print(
      "hostile | \(row.name) | \(said.replacing("Not the latest: ", with: "").replacing(/:\d{4,5}/, with: ""))",
      String(format: "| %.2f s | %.0f MiB |", load.seconds, load.peak))
  }
}
