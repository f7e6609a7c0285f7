import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Behavior that isn't covered by the specification of stores, which also runs on this store.
@Suite("VirtualDisk", .settled)
struct VirtualDiskTests {
  private let time = VirtualTimeScheduler()
  private let disk: VirtualDisk
  private let address = URL(string: "https://example.com/feed")!
  private let noon = Date(timeIntervalSince1970: 1_750_000_000)

  init() { disk = VirtualDisk(on: time) }

  private func feed(_ number: Int) -> CachedFeed {
    let image = FeedImage(
      id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))), description: "image \(number)",
      url: URL(string: "https://example.com/\(number)")!)
    return CachedFeed(images: [image], timestamp: noon + Double(number))
  }

  @discardableResult private func save(_ number: Int, on disk: VirtualDisk? = nil) throws -> FeedReplacement {
    try (disk ?? self.disk).replace(for: address, with: feed(number), now: noon + 100)
  }

  @Test(arguments: DiskStep.allCases)
  func `a failure at any step before the commit keeps the old feed`(step: DiskStep) throws {
    try save(1)
    disk.setFaults { at, _ in at == step ? .fail(.inputOutput("as told")) : nil }
    if step == .afterCommit {
      try save(2)
      #expect(disk.committed(for: address) == feed(2))
    } else {
      #expect(throws: FeedStoreError.self) { try save(2) }
      #expect(disk.committed(for: address) == feed(1))
    }
  }

  @Test(arguments: DiskStep.allCases)
  func `a crash keeps exactly what was committed, and the old process can't continue`(step: DiskStep) throws {
    try save(1)
    disk.setFaults { at, _ in at == step ? .crash : nil }
    #expect(throws: FeedStoreError.self) { try save(2) }
    #expect(disk.isDown)

    let next = disk.restarted()
    next.setFaults { _, _ in nil }

    #expect(try next.retrieve(for: address) == feed(step == .afterCommit ? 2 : 1))
    #expect(throws: FeedStoreError.self) { try save(3) }
    #expect(throws: FeedStoreError.self) { try disk.retrieve(for: address) }
    try save(4, on: next)
    #expect(try next.retrieve(for: address) == feed(4))
    #expect(disk.committed(for: address) != feed(4))
  }

  @Test func `crash() stops the machine between two calls`() throws {
    try save(1)
    disk.crash()
    #expect(throws: FeedStoreError.self) { try save(2) }
    #expect(try disk.restarted().retrieve(for: address) == feed(1))
  }

  @Test func `an expired record is deleted even when it is corrupted`() throws {
    try save(1)
    disk.corrupt(address)
    #expect(try disk.delete(for: address, if: .timestamp(feed(1).timestamp)))
  }

  @Test func `a corrupted record can't be read until it is replaced or deleted`() throws {
    try save(1)
    disk.corrupt(address)
    #expect(disk.isDamaged(at: address))
    for _ in 1...2 { #expect(throws: FeedStoreError.self) { try disk.retrieve(for: address) } }
    #expect(try disk.delete(for: address, if: .unreadable))
    #expect(try disk.retrieve(for: address) == nil)

    try save(1)
    disk.corrupt(address)
    #expect(try save(2) == .replaced)
    #expect(try disk.retrieve(for: address) == feed(2))
  }

  @Test func `a full disk refuses a larger feed and keeps the old one, until it has room again`() throws {
    try save(1)
    disk.capacity = disk.size
    let large = CachedFeed(images: Array(feed(2).images) + feed(3).images, timestamp: noon + 2)
    #expect(throws: FeedStoreError(.insertion, .diskFull, place: "the virtual disk")) {
      try disk.replace(for: address, with: large, now: noon + 100)
    }
    #expect(disk.committed(for: address) == feed(1))
    #expect(try save(2) == .replaced)
    disk.capacity = nil
    #expect(try disk.replace(for: address, with: large, now: noon + 100) == .replaced)
  }

  @Test func `the log has every call with its outcome and time`() throws {
    try save(1)
    time.advance(by: 5)
    _ = try disk.retrieve(for: address)
    #expect(disk.log.map(\.call) == [.replace(address, feed(1)), .retrieve(address)])
    #expect(disk.log.map(\.time) == [StreamInstant(nanoseconds: 0), StreamInstant(nanoseconds: 5_000_000_000)])
    guard case .retrieved(let saved) = disk.log[1].outcome else {
      Issue.record("It must tell what was retrieved: \(disk.log)")
      return
    }
    #expect(saved == feed(1))
  }
}
