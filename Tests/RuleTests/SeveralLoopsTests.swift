import FeedStream
import FeedStreamTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Streams on several loops, in orders that a seed chooses: a race would appear as a failing seed.
///
/// `Scripts/orders` runs 10,000 seeds of each test.
@Suite(.settled) struct SeveralLoopsTests {
  private static let fifties = (ProcessInfo.processInfo.environment["FEEDSTREAM_SEEDS"].flatMap { Int($0) } ?? 500) / 50

  @Test(arguments: parallelRows, 0..<fifties) func `the rules hold whichever loop runs first`(
    _ row: RuleRow, _ fifty: Int
  ) {
    #expect(row.verifyOrders(UInt64(fifty * 50)..<UInt64(fifty * 50 + 50)).scripts >= 150)
  }

  @Test(arguments: 0..<fifties) func `whichever loop runs first, no value is lost, repeated or out of order`(
    _ fifty: Int
  ) {
    for seed in UInt64(fifty * 50)..<UInt64(fifty * 50 + 50) {
      withVirtualTime(order: .seeded(seed)) { time in
        let limit = Int(seed % 9) + 1
        let count = Int(seed % 40)
        let group = EventLoopGroup(count: Int(seed % 4) + 1, on: time)
        let demand = DemandScript(initial: .max(Int(seed % 3)), later: [.init(after: .milliseconds(1), .unlimited)])
        let ordered = (0..<count).publisher.parallelMap(on: group, limit: limit) { $0 * 2 }
          .record(on: time, demand: demand)
        let unordered = (0..<count).publisher.parallelMap(on: group, limit: limit, ordering: .asCompleted) { $0 * 2 }
          .record(on: time, demand: demand)
        let piped = (0..<count).publisher.parallel(on: group, limit: limit) { rail in rail.map { $0 * 2 } }
          .record(on: time, demand: demand)
        let crossed = Publishers.ReceiveOn(
          crossing: (0..<count).publisher.map { $0 * 2 }.receive(on: VirtualLoop(on: time)).filter { _ in true },
          to: time
        )
        .record(on: time, demand: demand)
        time.run()
        let expected = (0..<count).map { $0 * 2 }
        #expect(ordered.values == expected && crossed.values == expected, "seed \(seed)")
        #expect(unordered.values.sorted() == expected && piped.values.sorted() == expected, "seed \(seed)")
        #expect([ordered, unordered, piped, crossed].allSatisfy { $0.completion == .finished }, "seed \(seed)")
      }
    }
  }

  @Test(arguments: 0..<fifties) func `after cancellation at any moment, no value follows and no work remains`(
    _ fifty: Int
  ) {
    for seed in UInt64(fifty * 50)..<UInt64(fifty * 50 + 50) {
      withVirtualTime(order: .seeded(seed)) { time in
        let group = EventLoopGroup(count: 3, on: time)
        let stop = Int(seed % 30)
        var (mapped, piped) = (0, 0)
        var subscriptions: [AnyCancellable] = []
        subscriptions.append(
          (0...).publisher.parallelMap(on: group, limit: 8) { $0 }.sink { _ in
            mapped += 1
            if mapped > stop { subscriptions[0].cancel() }
          })
        subscriptions.append(
          (0...).publisher.parallel(on: group, limit: 8) { rail in rail.filter { $0 % 2 == 0 } }.sink { _ in
            piped += 1
            if piped > stop { subscriptions[1].cancel() }
          })
        time.run()
        #expect(mapped == stop + 1 && piped == stop + 1, "seed \(seed)")
      }
    }
  }

  // MARK: Fairness

  @Test(arguments: UInt64(0)..<50)
  func `a stuck pipeline holds at most its window, and the others process the rest`(_ seed: UInt64) {
    withVirtualTime(order: .seeded(seed)) { time in
      let group = EventLoopGroup(count: 3, on: time)
      let made = Counter()
      var delivered = 0
      let subscription = (0..<1000).publisher.parallel(on: group, limit: 30) { rail in
        let isStuck = made.next() == 1
        return rail.flatMap(maxPublishers: .max(1)) { value in
          isStuck
            ? Empty<Int, Never>(completeImmediately: false).eraseToAnyPublisher() : Just(value).eraseToAnyPublisher()
        }
      }.sink { _ in delivered += 1 }
      time.run()
      // A window is 30 values for three loops; this pipeline has one value of demand.
      #expect(delivered >= 1000 - 10, "seed \(seed)")
      subscription.cancel()
      time.run()
    }
  }

  @Test(arguments: UInt64(0)..<50) func `results without demand stop upstream at the limit`(_ seed: UInt64) {
    withVirtualTime(order: .seeded(seed)) { time in
      let group = EventLoopGroup(count: 3, on: time)
      var taken = 0
      let slow = (0..<1000).publisher.handleEvents(receiveOutput: { _ in taken += 1 })
        .parallelMap(on: group, limit: 12) { $0 }
        .record(on: time, demand: DemandScript(initial: .max(5)))
      // Another pipeline on the same loops is not delayed.
      let fast = (0..<1000).publisher.parallelMap(on: group, limit: 12) { $0 }.record(on: time)
      time.run()
      #expect(slow.values == Array(0..<5) && taken <= 17, "seed \(seed): \(taken) taken")
      #expect(fast.values == Array(0..<1000), "seed \(seed)")
      slow.cancel()
      time.run()
    }
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
      count.withLock {
        $0 += 1
        return $0
      }
    }
  }
}
