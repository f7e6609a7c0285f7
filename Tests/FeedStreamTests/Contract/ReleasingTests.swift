import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// The part of rule 9 about values: a cancellation releases the values that an operator holds, even if the subscription
/// is retained.
@Suite(.settled) struct ReleasingTests {
  final class Value {}

  /// An operator that holds values.
  struct Holder: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let demand: DemandScript
    let hold: @Sendable (PassthroughSubject<Value, Boom>, VirtualTimeScheduler) -> AnyPublisher<Int, Boom>

    init<P: Publisher & SendableMetatype>(
      _ name: String, asking demand: DemandScript = .none,
      _ hold: @escaping @Sendable (PassthroughSubject<Value, Boom>, VirtualTimeScheduler) -> P
    ) where P.Failure == Boom {
      testDescription = name
      self.demand = demand
      self.hold = { hold($0, $1).map { _ in 0 }.eraseToAnyPublisher() }
    }
  }

  static let holders = [
    Holder("buffer") { upstream, _ in upstream.buffer(size: 5, prefetch: .byRequest, whenFull: .dropNewest) },
    Holder("buffer(on:)", asking: .unlimited) { upstream, _ in
      upstream.buffer(on: Empty<Never, Never>(completeImmediately: false))
    },
    Holder("collect", asking: .unlimited) { upstream, _ in upstream.collect() },
    Holder("collect by count", asking: .unlimited) { upstream, _ in upstream.collect(5) },
    Holder("collect by time", asking: .unlimited) { upstream, time in upstream.collect(.byTime(time, 5)) },
    Holder("combineLatest", asking: .unlimited) { upstream, _ in
      upstream.combineLatest(Empty<Int, Boom>(completeImmediately: false))
    },
    Holder("concatMap", asking: .unlimited) { upstream, _ in
      upstream.concatMap { _ in Empty<Int, Boom>(completeImmediately: false) }
    },
    Holder("debounce", asking: .unlimited) { upstream, time in upstream.debounce(for: 5, scheduler: time) },
    Holder("delay", asking: .unlimited) { upstream, time in upstream.delay(for: 5, scheduler: time) },
    Holder("expand", asking: .unlimited) { upstream, _ in
      upstream.expand { _ in Empty<Value, Boom>(completeImmediately: false) }
    },
    Holder("merge") { upstream, _ in upstream.merge(with: Empty<Value, Boom>(completeImmediately: false)) },
    Holder("groupBy") { upstream, _ in upstream.groupBy { ObjectIdentifier($0) } },
    Holder("onBackpressureLatest") { upstream, _ in upstream.onBackpressureLatest() },
    Holder("receive(on:)", asking: .unlimited) { upstream, time in upstream.receive(on: time) },
    Holder("sample", asking: .unlimited) { upstream, _ in
      upstream.sample(on: Empty<Never, Never>(completeImmediately: false))
    },
    Holder("takeLast", asking: .unlimited) { upstream, _ in upstream.takeLast(5) },
    Holder("throttle", asking: .unlimited) { upstream, time in upstream.throttle(for: 5, scheduler: time, latest: true)
    },
    Holder("window") { upstream, _ in upstream.window(5) },
    Holder("withLatestFrom", asking: .unlimited) { upstream, _ in
      Empty<Int, Boom>(completeImmediately: false).withLatestFrom(upstream)
    },
    Holder("zip", asking: .unlimited) { upstream, _ in upstream.zip(Empty<Int, Boom>(completeImmediately: false)) },
    Holder("zip of a collection", asking: .unlimited) { upstream, _ in
      [upstream.eraseToAnyPublisher(), Empty<Value, Boom>(completeImmediately: false).eraseToAnyPublisher()].zip()
    },
  ]

  @Test(arguments: holders) func `a cancelled operator releases what it holds`(_ holder: Holder) {
    struct Weak { weak var value: Value? }
    let time = VirtualTimeScheduler()
    let subject = PassthroughSubject<Value, Boom>()
    // The subscription is retained after its cancellation.
    var subscription: (any Subscription)?
    let recorder = Recorder<Int, Boom>(on: time, demand: holder.demand)
    holder.hold(subject, time).subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          recorder.receive(subscription: $0)
        }, receiveValue: recorder.receive(_:), receiveCompletion: recorder.receive(completion:)))
    let sent = (0..<2).map { _ in
      let value = Value()
      subject.send(value)
      return Weak(value: value)
    }
    #expect(sent.contains { $0.value != nil }, "it holds nothing")
    recorder.cancel()
    #expect(!sent.contains { $0.value != nil }, "it still holds a value")
    #expect(subscription != nil)
  }

  @Test func `takeLast drops its undelivered values when cancelled`() {
    let subject = PassthroughSubject<Value, Boom>()
    let recorder = subject.takeLast(2).map { _ in 0 }.record(demand: .none)
    weak var sent: Value?
    do {
      let value = Value()
      sent = value
      subject.send(value)
    }
    subject.send(completion: .finished)
    #expect(sent != nil)
    recorder.cancel()
    #expect(sent == nil)
  }

  static let keepers = [
    Holder("collect", asking: .unlimited) { upstream, _ in upstream.collect() },
    Holder("collect by count", asking: .unlimited) { upstream, _ in upstream.collect(5) },
    Holder("distinct", asking: .unlimited) { upstream, _ in upstream.distinct(by: Same.init) },
    Holder("last", asking: .unlimited) { upstream, _ in upstream.last() },
    Holder("reduce", asking: .unlimited) { upstream, _ in upstream.reduce([Value]()) { $0 + [$1] } },
    Holder("removeDuplicates", asking: .unlimited) { upstream, _ in upstream.removeDuplicates { $0 === $1 } },
    Holder("sample", asking: .unlimited) { upstream, _ in
      upstream.sample(on: Empty<Never, Never>(completeImmediately: false))
    },
    Holder("takeLast", asking: .unlimited) { upstream, _ in upstream.takeLast(5) },
  ]

  /// A value that is compared by its identity.
  struct Same: Hashable {
    let value: Value
    static func == (lhs: Same, rhs: Same) -> Bool { lhs.value === rhs.value }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(value)) }
  }

  @Test(arguments: keepers) func `a completed operator releases what it holds`(_ keeper: Holder) {
    let subject = PassthroughSubject<Value, Boom>()
    // The subscription is retained after the completion.
    var subscription: (any Subscription)?
    let recorder = Recorder<Int, Boom>(on: VirtualTimeScheduler(), demand: keeper.demand)
    keeper.hold(subject, VirtualTimeScheduler()).subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          recorder.receive(subscription: $0)
        }, receiveValue: recorder.receive(_:), receiveCompletion: recorder.receive(completion:)))
    weak var sent: Value?
    do {
      let value = Value()
      sent = value
      subject.send(value)
    }
    #expect(sent != nil, "it keeps nothing")
    subject.send(completion: .failure(Boom()))
    #expect(sent == nil, "it still keeps a value")
    #expect(recorder.failure != nil)
    #expect(subscription != nil)
  }

  // MARK: Values whose release cancels the stream

  /// A value that runs an action when it is released, as a screen that owns its subscription does.
  final class Owner {
    // Heap memory, so that a second release shows.
    private let name: String
    private let released: () -> Void
    init(_ number: Int, _ released: @escaping () -> Void) {
      name = "the screen with the number \(number)"
      self.released = released
    }
    deinit { released() }
  }

  /// An operator that replaces values or drops them.
  struct Replacer: Sendable, CustomTestStringConvertible {
    typealias Upstream = AnyPublisher<Owner, Boom>

    let testDescription: String
    let replace: @Sendable (Upstream, VirtualTimeScheduler) -> AnyPublisher<Int, Boom>

    init<P: Publisher & SendableMetatype>(
      _ name: String, _ replace: @escaping @Sendable (Upstream, VirtualTimeScheduler) -> P
    ) where P.Failure == Boom {
      testDescription = name
      self.replace = { replace($0, $1).map { _ in 0 }.eraseToAnyPublisher() }
    }
  }

  static let replacers = [
    Replacer("buffer, dropping the oldest") { upstream, _ in
      upstream.buffer(size: 1, prefetch: .byRequest, whenFull: .dropOldest)
        .flatMap(maxPublishers: .max(1)) { _ in Empty<Int, Boom>(completeImmediately: false) }
    },
    Replacer("collect by count") { upstream, _ in upstream.collect(2) },
    Replacer("collect by time") { upstream, time in upstream.collect(.byTime(time, 2)) },
    Replacer("combineLatest of 2, first") { upstream, _ in
      upstream.combineLatest(Just(1).setFailureType(to: Boom.self))
    },
    Replacer("combineLatest of 2, second") { upstream, _ in
      Just(1).setFailureType(to: Boom.self).combineLatest(upstream)
    },
    Replacer("combineLatest of 2, without a partner") { upstream, _ in
      upstream.combineLatest(Empty<Int, Boom>(completeImmediately: false))
    },
    Replacer("combineLatest of 3") { upstream, _ in
      upstream.combineLatest(upstream, Just(1).setFailureType(to: Boom.self))
    },
    Replacer("combineLatest of a collection") { upstream, _ in [upstream, upstream].combineLatest() },
    Replacer("debounce") { upstream, time in upstream.debounce(for: 2, scheduler: time) },
    Replacer("delay") { upstream, time in upstream.delay(for: 2, scheduler: time) },
    Replacer("dematerialize") { upstream, _ in upstream.materialize().dematerialize() },
    Replacer("last") { upstream, _ in upstream.last() },
    Replacer("multicast to a CurrentValueSubject") { upstream, _ in
      upstream.map { Optional($0) }.multicast(subject: CurrentValueSubject<Owner?, Boom>(nil)).autoconnect()
    },
    Replacer("onBackpressureLatest") { upstream, _ in
      upstream.onBackpressureLatest()
        .flatMap(maxPublishers: .max(1)) { _ in Empty<Int, Boom>(completeImmediately: false) }
    },
    Replacer("pairwise") { upstream, _ in upstream.pairwise() },
    Replacer("reduce") { upstream, _ in upstream.reduce(Owner(0) {}) { $1 } },
    Replacer("removeDuplicates") { upstream, _ in upstream.removeDuplicates { $0 === $1 } },
    Replacer("removeDuplicates of equal values") { upstream, _ in upstream.removeDuplicates { _, _ in true } },
    Replacer("sample") { upstream, time in upstream.sample(every: 2, scheduler: time) },
    Replacer("scan") { upstream, _ in upstream.scan(Owner(0) {}) { $1 } },
    Replacer("scan from the first value") { upstream, _ in upstream.scan { $1 } },
    Replacer("share(replay:)") { upstream, _ in upstream.share(replay: 1) },
    Replacer("switchToLatest") { upstream, time in
      upstream.map { Just($0).setFailureType(to: Boom.self).delay(for: 2, scheduler: time) }.switchToLatest()
    },
    Replacer("takeLast") { upstream, _ in upstream.takeLast(2) },
    Replacer("throttle") { upstream, time in upstream.throttle(for: 2, scheduler: time, latest: true) },
    Replacer("tryScan") { upstream, _ in
      upstream.tryScan(Owner(0) {}) { $1 }.mapError { $0 as? Boom ?? Boom() }
    },
    Replacer("window") { upstream, _ in upstream.window(2).flatMap { $0 } },
    Replacer("withLatestFrom") { upstream, time in
      Interval(every: 1, scheduler: time).setFailureType(to: Boom.self).withLatestFrom(upstream)
    },
    Replacer("zip") { upstream, _ in upstream.zip(upstream.dropFirst(2)) },
    Replacer("zip of 3") { upstream, _ in upstream.zip(upstream, upstream.dropFirst(2)) },
  ]

  @Test(arguments: replacers) func `a value that an operator releases may cancel the stream`(_ replacer: Replacer) {
    for canceller in 0..<8 {
      let time = VirtualTimeScheduler()
      let subject = PassthroughSubject<Owner, Boom>()
      var alive = 0
      var subscription: AnyCancellable?
      var wasCancelled = false
      var late = 0
      subscription = replacer.replace(subject.eraseToAnyPublisher(), time).sink(
        receiveCompletion: { _ in if wasCancelled { late += 1 } }, receiveValue: { _ in if wasCancelled { late += 1 } })
      for number in 0..<8 {
        alive += 1
        subject.send(
          Owner(number) {
            alive -= 1
            guard number == canceller else { return }
            subscription.take()?.cancel()
            wasCancelled = true
          })
        time.advance(by: 1)
      }
      subject.send(completion: .finished)
      time.advance(by: 10)
      subscription.take()?.cancel()
      #expect(alive == 0, "values left, or released twice")
      #expect(late == 0, "events after the cancellation")
    }
  }
}
