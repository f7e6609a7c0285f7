import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// The data that survives a crash, and the state of the process next to it.
struct Platter {
  struct Record {
    var feed: CachedFeed
    var isDamaged = false

    /// Its approximate size in bytes.
    var size: Int {
      feed.images.reduce(64) { sum, image in
        sum + 64 + (image.description?.utf8.count ?? 0) + (image.location?.utf8.count ?? 0)
          + image.url.absoluteString.utf8.count
      }
    }
  }

  /// Stops the call that was in progress when the machine stopped.
  struct Crash: Error { var committed: Bool }

  /// The committed records.
  var durable: [URL: Record] = [:]
  /// The committed state of polling.
  var polls = PollMemory()
  /// The transaction in progress; a crash discards it.
  var working: [URL: Record]?
  var capacity: Int?
  var faults: @Sendable (DiskStep, inout SeededGenerator) -> DiskFault? = { _, _ in nil }
  var random: SeededGenerator
  var isDown = false

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  var size: Int { (working ?? durable).values.reduce(0) { $0 + $1.size } }

  /// Passes `step`, where a fault may affect the feed of `address`.
  mutating func pass(_ step: DiskStep, _ error: FeedStoreError.Step, at address: URL?) throws {
    switch faults(step, &random) {
    case nil: return
    case .fail(let cause):
      guard step != .afterCommit else { return }
      throw FeedStoreError(error, cause, place: VirtualDisk.place)
    case .crash:
      let committed = step == .afterCommit
      crash()
      throw Crash(committed: committed)
    case .corrupt: address.map { corrupt($0) }
    }
  }

  mutating func corrupt(_ address: URL) {
    durable[address]?.isDamaged = true
    working?[address]?.isDamaged = true
  }

  /// Renews a feed that has these validators.
  ///
  /// - Returns: false when there is none.
  mutating func renew(_ address: URL, with renewal: FeedRenewal, now: Date) -> Bool {
    guard let saved = durable[address]?.feed, saved.validators == renewal.since else { return false }
    if !FeedCachePolicy.isSuperseded(renewal.timestamp, by: saved.timestamp, now: now) {
      durable[address]?.feed = CachedFeed(
        saved.images, timestamp: renewal.timestamp, validators: renewal.validators)
    }
    return true
  }

  mutating func crash() {
    isDown = true
    working = nil
  }

  /// Makes a change in a transaction: either all of it becomes durable, or nothing.
  mutating func transaction<T>(
    _ error: FeedStoreError.Step, at address: URL?, _ change: (inout Platter) throws -> T
  ) throws -> T {
    working = durable
    defer { working = nil }
    let result = try change(&self)
    try pass(.beforeCommit, error, at: address)
    if let working { durable = working }
    working = nil
    try pass(.afterCommit, error, at: address)
    return result
  }
}
