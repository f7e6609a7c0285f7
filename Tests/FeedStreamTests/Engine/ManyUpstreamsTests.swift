import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite("Operators with many upstreams: completions, order of subscription, and 100,000 upstreams", .settled)
struct ManyUpstreamsTests {
  let count = 100_000

  @Test func `zip of three fails when one fails, even after another has finished`() {
    let (a, b, c) = (PassthroughSubject<Int, Boom>(), PassthroughSubject<Int, Boom>(), PassthroughSubject<Int, Boom>())
    let recorder = a.zip(b, c).recorded()
    a.send(1)
    b.send(2)
    a.send(completion: .finished)
    b.send(completion: .failure(Boom()))
    c.send(3)
    #expect(recorder.values.isEmpty)
    #expect(recorder.error == Boom())
  }

  @Test func `zip of four cancels no upstream while pairs can follow`() {
    var cancelled: [Int] = []
    let subjects = (0..<4).map { _ in PassthroughSubject<Int, Boom>() }
    let watched = subjects.enumerated().map { index, subject in
      subject.handleEvents(receiveCancel: { cancelled.append(index) })
    }
    let recorder = watched[0].zip(watched[1], watched[2], watched[3]).recorded()
    subjects[0].send(1)
    subjects[1].send(2)
    subjects[0].send(completion: .finished)
    #expect(cancelled.isEmpty)
    subjects[2].send(3)
    subjects[3].send(4)
    #expect(recorder.values.count == 1)
    #expect(recorder.completion == .finished)
    #expect(cancelled == [1, 2, 3])
  }

  @Test func `a subscriber that cancels while the other upstream is cancelled gets no completion`() {
    var subscription: (any Subscription)?
    let (a, b) = (PassthroughSubject<Int, Boom>(), PassthroughSubject<Int, Boom>())
    let recorder = a.merge(with: b.handleEvents(receiveCancel: { subscription?.cancel() })).recorded()
    subscription = recorder.subscription
    a.send(completion: .failure(Boom()))
    #expect(recorder.completion == nil)
  }

  @Test func `zip and combineLatest subscribe to all publishers, even if the first is empty`() {
    var subscribed = 0
    let other = Just(1).handleEvents(receiveSubscription: { _ in subscribed += 1 })
    let none = Empty<Int, Never>()
    #expect(none.zip(other).recorded().completion == .finished)
    #expect(none.zip(other, other).recorded().completion == .finished)
    #expect(none.combineLatest(other, other, other).recorded().completion == .finished)
    #expect(subscribed == 6)
  }

  @Test func `append subscribes to the suffix during the prefix's completion`() {
    var log: [String] = []
    let prefix = Deferred {
      Just(1).handleEvents(receiveCompletion: { _ in log.append("prefix ends") })
    }
    let suffix = Deferred {
      log.append("suffix is subscribed")
      return Just(2)
    }
    // Above `append`, delivering the completion returns only after the suffix has run.
    let watched = prefix.breakpoint(receiveCompletion: { _ in false })
    let recorder = Returning(watched) { log.append("prefix returns") }.append(suffix).recorded()
    #expect(recorder.values == [1, 2])
    #expect(log == ["prefix ends", "suffix is subscribed", "prefix returns"])
  }

  @Test(.timeLimit(.minutes(10))) func `zip, combineLatest, merge and race work with a hundred thousand publishers`() {
    let many = (0..<count).map { Just($0) }
    #expect(many.zip().recorded().values.first?.count == count)
    #expect(many.combineLatest().recorded().values.first?.count == count)
    #expect(many.merge().recorded().values.count == count)
    #expect(many.race().recorded().values == [0])
    #expect(many.zip().pulled(.answering) == 1)
    #expect(many.merge().pulled(.answering) == count)
  }

  @Test(.timeLimit(.minutes(10))) func `a hundred thousand live publishers can complete and be cancelled`() {
    let subjects = (0..<count).map { _ in PassthroughSubject<Int, Never>() }
    let merged = subjects.merge().recorded()
    let latest = subjects.combineLatest().recorded()
    let zipped = subjects.zip().recorded()
    let raced = subjects.race().recorded()
    for subject in subjects.dropLast() { subject.send(1) }
    raced.cancel()
    for subject in subjects.dropLast() { subject.send(completion: .finished) }
    #expect(merged.values.count == count - 1)
    #expect(latest.completion == nil)
    #expect(zipped.completion == nil)
    subjects[count - 1].send(1)
    #expect(latest.values.count == 1)
    #expect(zipped.values.count == 1)
    #expect(zipped.completion == .finished)
    subjects[count - 1].send(completion: .finished)
    #expect(merged.completion == .finished)
    #expect(latest.completion == .finished)
    let cancelled = subjects.indices.map { _ in PassthroughSubject<Int, Never>() }
    for recorder in [cancelled.zip().recorded(), cancelled.combineLatest().recorded()] {
      recorder.cancel()
      #expect(recorder.values.isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(10))) func `flattening operators work with a hundred thousand inner publishers`() {
    let numbers = (0..<count).publisher
    #expect(numbers.flatMap { Just($0) }.pulled(.answering) == count)
    #expect(numbers.concatMap { Just($0) }.pulled(.answering) == count)
    #expect(numbers.flatMapFirst { Just($0) }.pulled(.requesting) == count)
    #expect(numbers.flatMapLatest { Just($0) }.recorded().values.count == count)
    let expanded = Just(1).expand { $0 < 100_000 ? [$0 + 1].publisher : [].publisher }
    #expect(expanded.recorded().values.count == count)
    let live = PassthroughSubject<Int, Never>()
    let recorder = numbers.flatMap { _ in live }.recorded()
    live.send(1)
    live.send(completion: .finished)
    #expect(recorder.values.count == count)
    #expect(recorder.completion == .finished)
    let first = PassthroughSubject<Int, Never>()
    let queued = numbers.concatMap { $0 == 0 ? first.eraseToAnyPublisher() : Just($0).eraseToAnyPublisher() }.recorded()
    first.send(completion: .finished)
    #expect(queued.values.count == count - 1)
  }

  @Test(.timeLimit(.minutes(10))) func `groupBy, window and buffer work with a hundred thousand groups`() {
    let numbers = (0..<count).publisher
    #expect(numbers.groupBy { $0 }.flatMap { $0 }.recorded().values.count == count)
    #expect(numbers.groupBy { $0 }.recorded().values.count == count)
    #expect(numbers.window(1).flatMap { $0 }.recorded().values.count == count)
    #expect(numbers.buffer(count: 1).recorded().values.count == count)
  }
}

/// Records the events that arrive, without their times, unlike the kit's recorder: a hundred thousand values don't need
/// them.
private final class Keeper<Input, Failure: Error>: Subscriber, Cancellable {
  private(set) var subscription: (any Subscription)?
  private(set) var values: [Input] = []
  private(set) var completion: Subscribers.Completion<Failure>?

  var error: Failure? { if case .failure(let error) = completion { error } else { nil } }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.unlimited)
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    values.append(input)
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    self.completion = completion
    subscription = nil
  }

  func cancel() {
    subscription?.cancel()
    subscription = nil
  }
}

extension Publisher {
  /// Subscribes with unlimited demand.
  fileprivate func recorded() -> Keeper<Output, Failure> {
    let keeper = Keeper<Output, Failure>()
    subscribe(keeper)
    return keeper
  }
}

/// Calls a closure when subscribing to a publisher has returned.
private struct Returning<Upstream: Publisher>: Publisher {
  typealias Output = Upstream.Output
  typealias Failure = Upstream.Failure

  let upstream: Upstream
  let returned: () -> Void

  init(_ upstream: Upstream, returned: @escaping () -> Void) {
    self.upstream = upstream
    self.returned = returned
  }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    upstream.receive(subscriber: subscriber)
    returned()
  }
}
