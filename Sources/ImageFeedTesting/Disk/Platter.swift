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

  /// The time of a saved feed that is newer than `feed`. A feed that cannot be read does not count.
  func superseding(_ feed: CachedFeed, at address: URL, now: Date) -> Date? {
    guard let saved = durable[address], !saved.isDamaged else { return nil }
    let isSuperseded = FeedCachePolicy.isSuperseded(feed.timestamp, by: saved.feed.timestamp, now: now)
    return isSuperseded ? saved.feed.timestamp : nil
  }

  /// Replaces a feed, in a transaction.
  mutating func replace(_ address: URL, with feed: CachedFeed, now: Date) throws -> FeedReplacement {
    if let saved = superseding(feed, at: address, now: now) { return .superseded(by: saved) }
    let saved = durable[address].flatMap { $0.isDamaged ? nil : $0.feed }
    let isSame = saved?.images == feed.images
    if durable[address] != nil, !isSame {
      try pass(.remove, .deletion, at: address)
      working?[address] = nil
    }
    try pass(.write, .insertion, at: address)
    working?[address] = Record(feed: feed)
    if !isSame, let capacity, size > capacity {
      throw FeedStoreError(.insertion, .diskFull, place: VirtualDisk.place)
    }
    return isSame ? .renewed : .replaced
  }

  /// Renews a feed that has these validators, in a transaction.
  ///
  /// - Returns: false when there is none.
  mutating func renew(_ address: URL, with renewal: FeedRenewal, now: Date) -> Bool {
    guard let saved = durable[address]?.feed, saved.validators == renewal.since else { return false }
    if !FeedCachePolicy.isSuperseded(renewal.timestamp, by: saved.timestamp, now: now) {
      working?[address]?.feed = CachedFeed(
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
    let before = polls
    var isCommitted = false
    defer {
      working = nil
      if !isCommitted { polls = before }
    }
    let result = try change(&self)
    try pass(.beforeCommit, error, at: address)
    if let working { durable = working }
    isCommitted = true
    try pass(.afterCommit, error, at: address)
    return result
  }
}
