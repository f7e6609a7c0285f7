import Synchronization
import TestSupport
import Testing

@testable import FeedStream

@Suite(.settled, .timeLimit(.minutes(5))) struct EventLoopGroupTests {
  private let loop = EventLoop()
  private let group: EventLoopGroup

  init() throws { group = try EventLoopGroup(count: 3, name: "test") }

  // MARK: The group

  @Test func `each loop of a group has its own thread, and shutdown ends them all`() {
    let threads = Locked<Set<UInt>>([])
    let arrived = Atomic(0)
    for each in group.loops {
      each.execute {
        _ = threads.withLock { $0.insert(currentThread()) }
        arrived.add(1, ordering: .releasing)
      }
    }
    while arrived.load(ordering: .acquiring) < 3 {}
    #expect(threads.withLock { $0.count } == 3)
    group.shutdown()
    group.shutdown()
    #expect(group.loops.allSatisfy { !$0.isHere })
  }

  @Test func `next() returns the loops of a group in turn`() {
    let four = (0..<4).map { _ in ObjectIdentifier(group.next()) }
    #expect(Set(four).count == 3 && four[0] == four[3])
  }

  @Test func `next(.leastLoaded) returns the loop with the least load`() {
    group.rails[0].load.store(2, ordering: .relaxed)
    group.rails[1].load.store(1, ordering: .relaxed)
    group.rails[2].load.store(2, ordering: .relaxed)
    for _ in 0..<5 { #expect(group.next(.leastLoaded) === group.loops[1]) }
  }

  @Test(arguments: [("max 100000", nil), ("200000 100000", 2), ("150000 100000\n", 2), ("50000 100000", 1), ("", nil)])
  func `a cgroup's CPU quota limits the number of processors`(_ text: String, _ count: Int?) {
    #expect(Processors.share(ofQuota: text) == count)
  }

  @Test func `quotas of parent cgroups count too`() {
    #expect(
      Processors.folders(ofMembership: "0::/a/b\n") == ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"])
    #expect(Processors.folders(ofMembership: "0::/\n") == ["/sys/fs/cgroup"])
    #expect(Processors.folders(ofMembership: "1:cpu:/x") == [])
    #expect(EventLoopGroup.availableProcessors >= 1)
  }

  // MARK: parallelMap

  @Test(arguments: [1, 2, 3, 7, 4096]) func `parallelMap keeps the order of the values`(_ limit: Int) {
    let outcome = Outcome((0..<10_000).publisher.parallelMap(on: group, limit: limit) { $0 * 2 })
    loop.run()
    #expect(outcome.values == (0..<10_000).map { $0 * 2 })
    #expect(outcome.isFinished)
  }

  @Test func `unordered parallelMap delivers results as they are ready`() {
    let gate = Locked(false)
    let outcome = Outcome(
      (0..<100).publisher.parallelMap(on: group, limit: 8, ordering: .asCompleted) { value in
        // The first value waits for all others.
        while value == 0, !gate.withLock({ $0 }) {}
        if value == 99 { gate.withLock { $0 = true } }
        return value
      })
    loop.run()
    #expect(outcome.values.first != 0 && Set(outcome.values) == Set(0..<100))
  }

  @Test func `parallelMap runs closures on the group's loops and delivers on the stream's loop`() {
    let loops = Locked<Set<ObjectIdentifier>>([])
    var isHome = true
    let home = loop
    let outcome = Outcome(
      (0..<1000).publisher.parallelMap(on: group) { value in
        _ = loops.withLock { $0.insert(ObjectIdentifier(EventLoop.current!)) }
        return value
      }.handleEvents(receiveOutput: { _ in isHome = isHome && home.isCurrent }))
    loop.run()
    #expect(isHome && outcome.values.count == 1000)
    #expect(loops.withLock { $0 }.isSubset(of: group.loops.map { ObjectIdentifier($0) }))
    #expect(loops.withLock { $0.count } > 1)
  }

  @Test func `width limits the number of loops that parallelMap uses`() {
    let loops = Locked<Set<ObjectIdentifier>>([])
    let outcome = Outcome(
      (0..<1000).publisher.parallelMap(on: group, width: 1) { value in
        _ = loops.withLock { $0.insert(ObjectIdentifier(EventLoop.current!)) }
        return value
      })
    loop.run()
    #expect(outcome.values.count == 1000 && loops.withLock { $0.count } == 1)
  }

  @Test func `parallelMap requests at most its limit from upstream, and holds results until requested`() {
    let source = PassthroughSubject<Int, Never>()
    var requested = 0
    let subscriber = Puller(
      source.handleEvents(receiveRequest: { requested += $0.max ?? .max })
        .parallelMap(on: group, limit: 5) { $0 })
    subscriber.request(1)
    for value in 0..<5 { source.send(value) }
    loop.run()
    #expect(subscriber.values == [0])
    subscriber.request(2)
    loop.run()
    #expect(subscriber.values == [0, 1, 2])
    #expect(requested <= 8)
    subscriber.cancel()
  }

  struct Odd: Error, Equatable { let value: Int }

  @Test func `an error thrown in parallelMap keeps its place and cancels upstream`() {
    var isCancelled = false
    let outcome = Outcome(
      (0..<1_000_000).publisher.handleEvents(receiveCancel: { isCancelled = true })
        .tryParallelMap(on: group) { value -> Int in
          if value == 70 { throw Odd(value: value) }
          return value
        })
    loop.run()
    #expect(outcome.values == Array(0..<70))
    #expect(outcome.error as? Odd == Odd(value: 70))
    #expect(isCancelled)
  }

  @Test func `parallelMap delivers upstream's failure after the results`() {
    let outcome = Outcome(
      (0..<500).publisher.setFailureType(to: Odd.self).append(Fail(error: Odd(value: 1)))
        .parallelMap(on: group) { $0 })
    loop.run()
    #expect(outcome.values == Array(0..<500) && outcome.error == Odd(value: 1))
  }

  @Test func `after cancellation, parallelMap delivers nothing, and the loop ends`() {
    var values: [Int] = []
    var subscription: AnyCancellable?
    subscription = (0...).publisher.parallelMap(on: group) { $0 }.sink { value in
      values.append(value)
      if value == 300 { subscription = nil }
    }
    loop.run()
    #expect(values == Array(0...300) && subscription == nil)
  }

  @Test func `parallelMap runs async closures on the group's loops`() async {
    let values = await onThread { [group] in
      withLoop { loop in
        let outcome = Outcome(
          (0..<100).publisher.parallelMap(on: group, width: 4) { value in
            await Task.yield()
            return EventLoop.current == nil ? -1 : value
          })
        loop.run()
        return outcome.values
      }
    }
    #expect(values == Array(0..<100))
  }

  // MARK: parallel

  @Test func `parallel delivers all values of the pipelines on each loop`() {
    let outcome = Outcome(
      (0..<10_000).publisher.parallel(on: group) { rail in rail.filter { $0 % 3 == 0 }.map { $0 * 10 } })
    loop.run()
    #expect(outcome.values.count == 3334 && Set(outcome.values).count == 3334 && outcome.isFinished)
    #expect(outcome.values.allSatisfy { $0 % 30 == 0 })
  }

  @Test func `parallel completes only after pipelines with state and timers have completed`() {
    let outcome = Outcome(
      (1...100).publisher.parallel(on: group) { rail in
        rail.reduce(0, +).delay(for: .milliseconds(5), scheduler: EventLoop.current!)
      })
    loop.run()
    #expect(outcome.values.count == 3 && outcome.values.reduce(0, +) == 5050 && outcome.isFinished)
  }

  @Test func `parallel delivers only what is requested, even from pipelines with more values`() {
    let puller = Puller(
      (0..<300).publisher.parallel(on: group, limit: 30) { rail in
        rail.flatMap(maxPublishers: .max(1)) { [$0, $0].publisher }
      })
    puller.request(10)
    for _ in 0..<100 { loop.run(.oneTurn) }
    #expect(puller.values.count <= 10 && puller.completion == nil)
    puller.request(1000)
    loop.run()
    #expect(puller.values.count == 600 && puller.completion != nil)
  }

  @Test func `a failing pipeline fails the parallel stream and cancels upstream`() {
    var isCancelled = false
    let outcome = Outcome(
      (0...).publisher.setFailureType(to: Odd.self).handleEvents(receiveCancel: { isCancelled = true })
        .parallel(on: group) { rail in
          rail.flatMap { value -> AnyPublisher<Int, Odd> in
            value == 1000
              ? Fail(error: Odd(value: value)).eraseToAnyPublisher()
              : Just(value).setFailureType(to: Odd.self).eraseToAnyPublisher()
          }
        })
    loop.run()
    #expect(outcome.error == Odd(value: 1000) && isCancelled)
  }

  @Test func `upstream is cancelled when all pipelines of parallel have completed`() {
    var isCancelled = false
    let outcome = Outcome(
      (0...).publisher.handleEvents(receiveCancel: { isCancelled = true })
        .parallel(on: group) { rail in rail.prefix(5) })
    loop.run()
    #expect(outcome.values.count == 15 && outcome.isFinished && isCancelled)
  }

  @Test func `cancelling parallel cancels its pipelines`() {
    let cancelled = Atomic(0)
    var subscription: AnyCancellable?
    var values = 0
    subscription = (0...).publisher.parallel(on: group) { rail in
      rail.handleEvents(receiveCancel: { cancelled.add(1, ordering: .relaxed) })
    }.sink { _ in
      values += 1
      if values == 100 { subscription = nil }
    }
    loop.run()
    let cancellations = cancelled.load(ordering: .relaxed)
    #expect(values == 100 && cancellations == 3 && subscription == nil)
  }

  @Test func `parallel uses the open loops of a group whose first loop is closed`() {
    let first = group.loops[0]
    first.stop()
    for _ in 0..<10_000 where !first.entrance.isForAnyThread { stall(milliseconds: 1) }
    let outcome = Outcome((0..<100).publisher.parallel(on: group) { $0 })
    loop.run()
    #expect(outcome.values.sorted() == Array(0..<100) && outcome.isFinished)
  }

  @Test func `a stream retains the group on which it computes`() throws {
    func results(_ make: (EventLoopGroup) -> some Publisher<Int, Never>) throws -> Outcome<Int, Never> {
      Outcome(make(try EventLoopGroup(count: 2)))
    }
    let mapped = try results { (0..<20_000).publisher.parallelMap(on: $0) { $0 } }
    let piped = try results { (0..<20_000).publisher.parallel(on: $0) { $0 } }
    loop.run()
    #expect(mapped.values.count == 20_000 && mapped.isFinished)
    #expect(piped.values.count == 20_000 && piped.isFinished)
  }

  // MARK: receive(on:)

  @Test func `receive(on:) another loop delivers all values in order`() {
    let other = group.loops[0]
    let received = Locked<[Int]>([])
    let isElsewhere = Atomic(true)
    let ended = Atomic(false)
    let subscription = (0..<100_000).publisher.receive(on: other).sink { _ in
      ended.store(true, ordering: .releasing)
    } receiveValue: { value in
      if !other.isCurrent { isElsewhere.store(false, ordering: .relaxed) }
      received.withLock { $0.append(value) }
    }
    loop.run()
    let hasEnded = ended.load(ordering: .acquiring)
    #expect(hasEnded)
    #expect(received.withLock { $0 } == Array(0..<100_000))
    let wasElsewhere = isElsewhere.load(ordering: .relaxed)
    #expect(wasElsewhere)
    withExtendedLifetime(subscription) {}
  }

  @Test func `demand on the other loop reaches upstream across receive(on:)`() {
    let other = group.loops[1]
    let most = Locked(0)
    let received = Locked<[Int]>([])
    let subscription = (0..<5000).publisher
      .handleEvents(receiveRequest: { demand in most.withLock { $0 = max($0, demand.max ?? .max) } })
      .receive(on: other).buffer(size: 64, prefetch: .keepFull, whenFull: .dropNewest)
      .sink { value in received.withLock { $0.append(value) } }
    loop.run()
    #expect(received.withLock { $0 } == Array(0..<5000))
    #expect(most.withLock { $0 } <= 64)
    withExtendedLifetime(subscription) {}
  }

  @Test func `flatMap delivers all values of publishers on other loops`() {
    let outcome = Outcome(
      (0..<10_000).publisher.flatMap { [group] value in Just(value).receive(on: group.loops[value % 3]) })
    loop.run()
    #expect(Set(outcome.values) == Set(0..<10_000) && outcome.values.count == 10_000)
  }

  @Test func `a stream that crosses to other loops and back delivers in order on its own loop`() {
    let home = loop
    var isHome = true
    let outcome = Outcome(
      (0..<10_000).publisher.receive(on: group.loops[0]).map { $0 + 1 }.receive(on: group.loops[1]).map { $0 + 1 }
        .receive(on: loop).handleEvents(receiveOutput: { _ in isHome = isHome && home.isCurrent }))
    loop.run { outcome.completion != nil }
    #expect(outcome.values == Array(2..<10_002) && isHome)
  }

  @Test func `a stream can be cancelled on the loop that receives it`() {
    let other = group.loops[2]
    let count = Atomic(0)
    let source = PassthroughSubject<Int, Never>()
    var isCancelled = false
    let subscription = source.handleEvents(receiveCancel: { isCancelled = true }).receive(on: other).sink { _ in
      count.add(1, ordering: .relaxed)
    }
    source.send(1)
    loop.run()
    other.execute { [carried = Carried(uncheckedly: subscription)] in carried.value.cancel() }
    while !isCancelled { loop.run(.oneTurn) }
    source.send(2)
    loop.run()
    let received = count.load(ordering: .relaxed)
    #expect(received == 1)
  }
}

/// This suite has no loop: while a test is suspended, its thread runs other tests, whose streams would live on that
/// loop.
@Suite(.settled, .timeLimit(.minutes(5))) struct ClosedGroupTests {
  /// Runs in its own process, because the hook is process-wide.
  @Test func `values for a closed loop are reported as dropped`() async {
    await #expect(processExitsWith: .success) {
      let lost = Locked<[Int]>([])
      StreamDiagnostics.onDrop { drop in if let value = drop.value as? Int { lost.withLock { $0.append(value) } } }
      let loop = EventLoop()
      let group = try EventLoopGroup(count: 2)
      group.shutdown()
      let mapped = Outcome((0..<10).publisher.parallelMap(on: group) { $0 })
      loop.run()
      #expect(mapped.values.isEmpty && mapped.isFinished)
      #expect(lost.withLock { $0.count } == 10)
      // Nothing is requested from upstream if it can't be delivered.
      let piped = Outcome((0..<10).publisher.parallel(on: group) { $0 })
      loop.run()
      #expect(piped.values.isEmpty && piped.isFinished)
      #expect(lost.withLock { $0.count } == 10)
      var isCancelled = false
      let source = PassthroughSubject<Int, Never>()
      let subscription = source.handleEvents(receiveCancel: { isCancelled = true })
        .receive(on: group.loops[0]).sink { _ in Issue.record("delivered") }
      source.send(1)
      loop.run()
      #expect(lost.withLock { $0.count } == 11 && isCancelled)
      withExtendedLifetime(subscription) {}
    }
  }
}
