import FeedStream
import FeedStreamTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedPolling
@testable import ImageFeed

/// The number of operations that share a transaction.
@Suite(.settled) struct PollBatcherTests {
  /// A store that counts the operations of each call.
  private final class CountingStore: PollStore {
    let memory = InMemoryFeedStore()
    let sizes = Mutex<[Int]>([])

    func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] { try memory.health(of: addresses) }
    func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? { try memory.health(ofHost: name) }
    func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] { try memory.decisions(for: address) }

    func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] {
      sizes.withLock { $0.append(works.count) }
      return memory.carryOut(works)
    }
  }

  private struct Place {
    let time = VirtualTimeScheduler()
    let store = CountingStore()
    let worker: SerialWorker
    let batcher: PollBatcher

    init() {
      time.offloadLatency = .milliseconds(1)
      worker = SerialWorker(on: time)
      batcher = PollBatcher(store, worker, on: time)
    }

    func claim(_ number: Int, _ done: @escaping (PollVerdict?) -> Void = { _ in }) -> any Cancellable {
      let address = URL(string: "https://host\(number).com/feed")!
      let claim = PollClaim(
        feed: FeedHealth(address: address), host: "host\(number).com", now: noon, lease: .seconds(35),
        dueIfLost: noon + 3600)
      return batcher.claim(claim) { done(try? $0.get()) }
    }
  }

  @Test func `a claim is granted immediately, and claims meanwhile share the next transaction`() {
    let place = Place()
    var granted = 0
    for number in 0..<5 { _ = place.claim(number) { if case .granted? = $0 { granted += 1 } } }
    place.time.advance(by: .milliseconds(2))
    #expect(granted == 5)
    #expect(place.store.sizes.withLock { $0 } == [1, 4])
  }

  @Test func `when crowded, claims within ten milliseconds share a transaction`() {
    let place = Place()
    place.batcher.isCrowded = true
    var times: [Int64] = []
    for number in 0..<40 {
      _ = place.claim(number) { _ in times.append(place.time.now.nanoseconds / 1_000_000) }
      place.time.advance(by: .milliseconds(1))
    }
    place.time.advance(by: .milliseconds(20))
    #expect(times.count == 40)
    let sizes = place.store.sizes.withLock { $0 }
    #expect(sizes.count == 5 && sizes.first == 1 && sizes.dropFirst().allSatisfy { $0 >= 9 }, "\(sizes)")
  }

  @Test func `a record with a pause is written immediately, even when crowded`() {
    let place = Place()
    place.batcher.isCrowded = true
    _ = place.claim(0)
    place.time.advance(by: .milliseconds(2))
    _ = place.claim(1)
    var host = HostHealth(name: "host0.com")
    host.pausedUntil = noon + 7200
    let decision = PollDecision(time: noon, request: "", outcome: "", due: nil, rule: .retryAfter, reason: "")
    let health = FeedHealth(address: URL(string: "https://host0.com/feed")!)
    var isNoted = false
    let record = PollRecord(feed: health, host: host, decision: decision, outcome: .unchanged)
    place.batcher.complete(PollCompletion(record, now: noon)) { _ in isNoted = true }
    place.time.advance(by: .milliseconds(1))
    #expect(isNoted && place.store.sizes.withLock { $0 } == [1, 2])
    place.time.advance(by: .milliseconds(20))
  }

  @Test func `pending work is handed to the store on close, after its running work`() throws {
    for isCrowded in [false, true] {
      let place = Place()
      place.batcher.isCrowded = isCrowded
      _ = place.claim(0)
      if isCrowded { place.time.advance(by: .milliseconds(3)) }
      var health = FeedHealth(address: URL(string: "https://host0.com/feed")!)
      health.asked = noon
      var host = HostHealth(name: "host0.com")
      host.pausedUntil = noon + 7200
      let decision = PollDecision(time: noon, request: "", outcome: "", due: nil, rule: .retryAfter, reason: "")
      let record = PollRecord(feed: health, host: host, decision: decision, outcome: .unchanged)
      let noted = place.batcher.complete(PollCompletion(record, now: noon)) { _ in }
      // Act like an interrupted process, which no longer waits for the result, but then for the worker's last work.
      noted.cancel()
      place.batcher.flush()
      var isIdle = false
      place.worker.perform({}, completion: { (_: Result<Void, Never>) in isIdle = true })
      while !isIdle { place.time.advance(by: .milliseconds(1)) }
      #expect(try place.store.health(ofHost: "host0.com")?.pausedUntil == noon + 7200)
      place.time.advance(by: .seconds(1))
    }
  }
}
