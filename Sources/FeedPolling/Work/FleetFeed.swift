public import FeedStream
public import Foundation
public import ImageFeed

/// One feed of a fleet.
public struct FleetFeed: Sendable {
  public var address: URL
  public var record: FeedRecord
  /// The version of the saved feed; `nil` if nothing is saved.
  public var version: FeedVersion?
  public var document: Chunk?

  public init(address: URL, record: FeedRecord, version: FeedVersion?, document: Chunk?) {
    self.address = address
    self.record = record
    self.version = version
    self.document = document
  }

  /// The images; `nil` when no images are saved, or the saved ones are damaged.
  public var images: FeedImages? {
    document?.withUnsafeBytes { FeedImages(bytes: $0) }?.marked(isFromPrivateNetwork: record.isFromPrivateNetwork)
  }

  /// The time when the saved feed was requested; `nil` if nothing is saved.
  public var timestamp: Date? {
    guard let version else { return nil }
    // A poll saves only the version's date: an exact time that doesn't match it is left over from an earlier version.
    guard let exact = record.timestamp, FeedVersion(exact) == version else { return version.date }
    return exact
  }
}

extension FleetFeed {
  /// The feed's entry in a store's table of contents; `nil` if nothing is saved.
  public var summary: CachedFeedSummary? {
    version.map {
      CachedFeedSummary(
        address: address, timestamp: timestamp ?? $0.date, imageCount: record.imageCount, validators: record.validators)
    }
  }
}
