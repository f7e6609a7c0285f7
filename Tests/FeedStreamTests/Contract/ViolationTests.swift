import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// The effect of breaking a rule of `CONTRACT.md`. `RuleSuite` shows that no operator breaks one.
@Suite(.settled) struct ViolationTests {
  @Test func `rule 1: touching a stream on a thread that does not run its loop traps in debug builds`() async {
    let ending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (home, other) = (try EventLoopThread(), try EventLoopThread())
      let stray = Stray()
      await withCheckedContinuation { done in
        home.loop.execute {
          stray.subscription = PassthroughSubject<Int, Never>().scan(0, +).sink { _ in }
          done.resume()
        }
      }
      await withCheckedContinuation { done in
        other.loop.execute {
          stray.subscription?.cancel()
          done.resume()
        }
      }
    }
    #expect(ending?.says("CONTRACT, rule 1") == true)
  }

  @Test func `rule 2: a second subscription is cancelled`() {
    let time = VirtualTimeScheduler()
    let twice = MisbehavingPublisher<Int, Never>(.subscribesTwice, values: [1], on: time)
    let sink = twice.sink { _ in }
    #expect(twice.cancellations == [false, true])
    sink.cancel()
  }

  @Test func `rule 3: demand adds up and saturates`() {
    #expect(Subscribers.Demand.max(2) + .max(3) == .max(5))
    #expect(Subscribers.Demand.max(.max) + .max(.max) == .unlimited)
    #expect(Subscribers.Demand.unlimited + .max(1) == .unlimited)
    #expect(Subscribers.Demand.max(1) - .max(2) == .none)
  }

  @Test func `rule 3: request(.none) traps and names the subscription`() async {
    let ending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Just(1).subscribe(Asker(.none))
    }
    #expect(ending?.says("Just: request(.none) requests nothing") == true)
  }

  @Test func `rule 3: request(.none) has no effect on a sequence, a record, a buffer and append`() {
    let buffer = PassthroughSubject<Int, Never>().buffer(size: 1, prefetch: .keepFull, whenFull: .dropOldest)
    for publisher in [
      [1].publisher.eraseToAnyPublisher(), Record<Int, Never>(output: [1], completion: .finished).eraseToAnyPublisher(),
      buffer.eraseToAnyPublisher(), [1].publisher.append([2]).eraseToAnyPublisher(),
    ] {
      let asker = Asker(.none)
      publisher.subscribe(asker)
      #expect(asker.received == [])
    }
  }

  @Test func `rule 4: an operator that counts demand traps when it receives too many values`() async {
    let ending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let excess = MisbehavingPublisher<Int, Never>(.emitsBeyondDemand, values: [1, 2, 3], on: VirtualTimeScheduler())
      excess.replaceError(with: 0).subscribe(Asker(.max(1)))
    }
    #expect(ending?.says("upstream delivered a value that was not requested") == true)
  }

  @Test func `rule 5: events after the completion are ignored`() {
    let late = MisbehavingPublisher<Int, Never>(.emitsAfterEnding, values: [1], on: VirtualTimeScheduler())
    let asker = Asker(.unlimited)
    late.dropFirst(0).removeDuplicates().subscribe(asker)
    #expect(asker.received == ["1", "finished"])
    let twice = MisbehavingPublisher<Int, Never>(.completesTwice, values: [1], on: VirtualTimeScheduler())
    let other = Asker(.unlimited)
    twice.removeDuplicates().subscribe(other)
    #expect(other.received == ["1", "finished"])
  }

  @Test func `rule 5: a second completion doesn't take a result that waits for demand`() {
    let time = VirtualTimeScheduler()
    let twice = MisbehavingPublisher<Int, Never>(.completesTwice, values: [1, 2, 3], on: time)
    let stubborn = MisbehavingPublisher<Int, Never>(.ignoresCancel, values: [1, 2, 3], on: time)
    let results = [
      twice.count().eraseToAnyPublisher(), twice.collect().map(\.count).eraseToAnyPublisher(),
      stubborn.first().map { $0 + 2 }.eraseToAnyPublisher(),
    ]
    for result in results {
      let recorder = result.record(on: time, demand: .none)
      time.run()
      #expect(recorder.values == [] && recorder.completion == nil)
      recorder.request(.max(1))
      #expect(recorder.values == [3] && recorder.completion == .finished)
    }
  }

  @Test func `rule 6: a completion already scheduled isn't delivered after cancel`() {
    let time = VirtualTimeScheduler()
    let asker = Asker(.unlimited)
    Empty<Int, Never>().receive(on: time).subscribe(asker)
    asker.subscription?.cancel()
    asker.subscription?.cancel()
    asker.subscription?.request(.unlimited)
    time.run()
    #expect(asker.received == [])
  }

  @Test func `rule 6: nothing follows when a sequence cancels, or a closure cancels and throws`() {
    let pulled = Recorder<Int, Never>()
    let single = Recorder<Int, Never>(demand: .max(3))
    for recorder in [pulled, single] {
      (1...3).lazy.map { [unowned recorder] number in
        if number == 2 { recorder.cancel() }
        return number
      }
      .publisher.subscribe(recorder)
      #expect(recorder.values == [])
    }
    let subject = PassthroughSubject<Int, Never>()
    let thrower = Recorder<Int, any Error>()
    subject.tryMap { [unowned thrower] _ -> Int in
      thrower.cancel()
      throw Boom()
    }
    .subscribe(thrower)
    subject.send(1)
    #expect(thrower.completion == nil)
  }

  @Test func `rule 7: a closure that changes state isn't called again while it runs`() async {
    let accumulating = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let subject = PassthroughSubject<Int, Never>()
      let subscription = subject.scan(into: [Int]()) { seen, value in
        seen.append(value)
        if value == 1 { subject.send(2) }
      }.sink { _ in }
      subject.send(1)
      subscription.cancel()
    }
    #expect(accumulating?.says("scan(into:): a value arrived while the closure was handling") == true)
    let reducing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let subject = PassthroughSubject<Int, Never>()
      let subscription = subject.reduce([Int]()) { seen, value in
        if value == 1 { subject.send(2) }
        return seen + [value]
      }.sink { _ in }
      subject.send(1)
      subscription.cancel()
    }
    #expect(reducing?.says("Reduce: a value arrived while the closure was handling") == true)
  }
}

/// Takes a subscription to another thread, without the compiler's knowledge. Unchecked: the test waits for each thread
/// in turn.
private final class Stray: @unchecked Sendable {
  var subscription: AnyCancellable?
}

/// Requests once, and records the events.
private final class Asker: Subscriber {
  private let demand: Subscribers.Demand
  private(set) var received: [String] = []
  private(set) var subscription: (any Subscription)?

  init(_ demand: Subscribers.Demand) { self.demand = demand }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(demand)
  }

  func receive(_ input: Int) -> Subscribers.Demand {
    received.append("\(input)")
    return .none
  }

  func receive(completion: Subscribers.Completion<Never>) { received.append("finished") }
}
