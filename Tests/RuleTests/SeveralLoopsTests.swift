import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Streams on several loops, in orders that a seed chooses: a race would be a seed that fails.
@Suite(.settled) struct SeveralLoopsTests {
  @Test(arguments: 0..<20) func `whichever loop goes first, nothing is lost, doubled or out of order`(_ hundred: Int) {
    for seed in UInt64(hundred * 50)..<UInt64(hundred * 50 + 50) {
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

  @Test(arguments: 0..<10) func `cancelled at any moment, nothing follows and nothing stays`(_ hundred: Int) {
    for seed in UInt64(hundred * 50)..<UInt64(hundred * 50 + 50) {
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
}
