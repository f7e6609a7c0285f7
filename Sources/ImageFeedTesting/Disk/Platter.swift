import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed

/// The data that survives a crash, and the state that doesn't.
struct Platter {
  struct Record {
    var feed: CachedFeed
    var isDamaged = false

    /// The record's approximate size in bytes.
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
  /// The committed notes.
  var notes: [NoteKey: any StoredNote] = [:]
  /// The transaction in progress; a crash discards it.
  var working: [URL: Record]?
  /// The notes of the transaction in progress.
  var workingNotes: [NoteKey: any StoredNote]?
  var capacity: Int?
  var faults: @Sendable (DiskStep, inout SeededGenerator) -> DiskFault? = { _, _ in nil }
  var random: SeededGenerator
  var isDown = false

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  var size: Int { (working ?? durable).values.reduce(0) { $0 + $1.size } }

  /// Passes `step`, where a fault may affect the feed of `address`.
  ///
  /// - Returns: true if the fault was damage.
  @discardableResult mutating func pass(
    _ step: DiskStep, _ error: FeedStoreError.Step, at address: URL?
  ) throws -> Bool {
    switch faults(step, &random) {
    case nil: return false
    case .fail(let cause):
      guard step != .afterCommit else { return false }
      throw FeedStoreError(error, cause, place: VirtualDisk.place)
    case .crash:
      let committed = step == .afterCommit
      crash()
      throw Crash(committed: committed)
    case .corrupt:
      address.map { corrupt($0) }
      return true
    }
  }

  mutating func corrupt(_ address: URL) {
    durable[address]?.isDamaged = true
    working?[address]?.isDamaged = true
  }

  /// The timestamp of a saved feed that is newer than `feed`. A feed that cannot be read does not count.
  func superseding(_ feed: CachedFeed, at address: URL, now: Date) -> Date? {
    guard let saved = durable[address], !saved.isDamaged else { return nil }
    let isSuperseded = FeedCachePolicy.isSuperseded(feed.timestamp, by: saved.feed.timestamp, now: now)
    return isSuperseded ? saved.feed.timestamp : nil
  }

  /// Passes the steps of replacing a feed with `record`, if the new feed fits.
  ///
  /// - Returns: true when the images are the same.
  mutating func passReplacement(of address: URL, by record: Record) throws -> Bool {
    let old = durable[address]
    let isSame = old?.isDamaged == false && old?.feed.images == record.feed.images
    if old != nil, !isSame { try pass(.remove, .deletion, at: address) }
    try pass(.write, .insertion, at: address)
    if !isSame, let capacity, size - (old?.size ?? 0) + record.size > capacity {
      throw FeedStoreError(.insertion, .diskFull, place: VirtualDisk.place)
    }
    return isSame
  }

  mutating func crash() {
    isDown = true
    working = nil
  }

  /// Makes a change in a transaction: either all of it becomes durable, or none.
  mutating func transaction<T>(
    _ error: FeedStoreError.Step, at address: URL?, _ change: (inout Platter) throws -> T
  ) throws -> T {
    (working, workingNotes) = (durable, notes)
    defer { (working, workingNotes) = (nil, nil) }
    let result = try change(&self)
    try pass(.beforeCommit, error, at: address)
    if let working, let workingNotes { (durable, notes) = (working, workingNotes) }
    (working, workingNotes) = (nil, nil)
    try pass(.afterCommit, error, at: address)
    return result
  }
}
