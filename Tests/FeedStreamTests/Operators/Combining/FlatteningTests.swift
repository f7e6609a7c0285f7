import FeedStream
import TestSupport
import Testing

@Suite("flatMapFirst, concatMap, expand, groupBy", .settled) struct FlatteningTests {
  let time = MarbleTime()

  @Test func `flatMap delivers what a sequence has at once, unless it is cancelled on the way`() {
    var received: [Int] = []
    var subscription: AnyCancellable?
    let subject = PassthroughSubject<Int, Never>()
    subscription = subject.flatMap { (0..<$0).publisher }.sink { value in
      received.append(value)
      if value == 2 { subscription = nil }
    }
    subject.send(10)
    #expect(received == [0, 1, 2])
    #expect(subject.send(10) == Delivery())
    withExtendedLifetime(subscription) {}
  }

  @Test func `flatMap ends when upstream ends in the middle of a sequence, once that is delivered`() {
    let subject = PassthroughSubject<Int, Never>()
    var log: [String] = []
    let subscription = subject.flatMap { (0..<$0).publisher }.sink { _ in
      log.append("end")
    } receiveValue: { value in
      log.append("\(value)")
      if value == 0 { subject.send(completion: .finished) }
    }
    subject.send(3)
    #expect(log == ["0", "1", "2", "end"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `flatMap asks for the next value when a sequence has been delivered`() {
    var asked: [Subscribers.Demand] = []
    let recorder = (1...3).publisher.handleEvents(receiveRequest: { asked.append($0) })
      .flatMap(maxPublishers: .max(1)) { [$0, $0].publisher }.record(on: time)
    #expect(recorder.values == [1, 1, 2, 2, 3, 3])
    #expect(asked == [.max(1), .max(1), .max(1), .max(1)])
    #expect(recorder.completion == .finished)
  }

  @Test func `a failing result ends flatMap, and an empty publisher delivers nothing`() {
    let results: [Result<Int, Boom>] = [.success(1), .failure(Boom()), .success(2)]
    let failing = results.publisher.setFailureType(to: Boom.self).flatMap { $0.publisher }.record(on: time)
    #expect(failing.values == [1])
    #expect(failing.error == Boom())
    let empty = (0..<3).publisher.flatMap { _ in Empty<Int, Never>() }.record(on: time)
    #expect(empty.values.isEmpty && empty.completion == .finished)
  }

  /// Asks for one value at a time in its answers, and does something while it receives.
  private final class Answering: Subscriber {
    private let act: (Int) -> Void
    private(set) var values: [Int] = []
    private(set) var isEnded = false
    init(_ act: @escaping (Int) -> Void) { self.act = act }
    func receive(subscription: any Subscription) { subscription.request(.max(1)) }
    func receive(_ input: Int) -> Subscribers.Demand {
      values.append(input)
      act(input)
      return .max(1)
    }
    func receive(completion: Subscribers.Completion<Never>) { isEnded = true }
  }

  @Test func `what is asked for in the answer to a publisher's last value is asked of the next`() {
    let first = PassthroughSubject<Int, Never>()
    let appended = Answering { if $0 == 1 { first.send(completion: .finished) } }
    first.append(2, 3).subscribe(appended)
    first.send(1)
    #expect(appended.values == [1, 2, 3])
    #expect(appended.isEnded)

    let (old, outer) = (PassthroughSubject<Int, Never>(), PassthroughSubject<PassthroughSubject<Int, Never>, Never>())
    let new = PassthroughSubject<Int, Never>()
    let switched = Answering { if $0 == 1 { outer.send(new) } }
    outer.switchToLatest().subscribe(switched)
    outer.send(old)
    old.send(1)
    new.send(2)
    new.send(3)
    #expect(switched.values == [1, 2, 3])
  }

  /// Three values of a number, of a publisher that delivers them at once, erased or not.
  private static func three(_ number: Int) -> AnyPublisher<Int, Boom> {
    (0..<3).map { number * 10 + $0 }.publisher.setFailureType(to: Boom.self).eraseToAnyPublisher()
  }

  private enum Rival: CaseIterable { case flatMapLatest, concatMap, flatMapFirst }

  /// Sends 1, and in the delivery of 11 does `act`; tells what was received.
  private func received(_ rival: Rival, in act: @escaping (PassthroughSubject<Int, Boom>) -> Void) -> [String] {
    let subject = PassthroughSubject<Int, Boom>()
    var log: [String] = []
    let mapped =
      switch rival {
      case .flatMapLatest: subject.flatMapLatest(Self.three).eraseToAnyPublisher()
      case .concatMap: subject.concatMap(Self.three).eraseToAnyPublisher()
      case .flatMapFirst: subject.flatMapFirst(Self.three).eraseToAnyPublisher()
      }
    let subscription = mapped.sink {
      log.append($0 == .finished ? "|" : "#")
    } receiveValue: { value in
      log.append("\(value)")
      if value == 11 { act(subject) }
    }
    subject.send(1)
    withExtendedLifetime(subscription) {}
    return log
  }

  @Test func `what comes while a sequence is delivered at once takes over, waits or is dropped`() {
    #expect(received(.flatMapLatest) { $0.send(2) } == ["10", "11", "20", "21", "22"])
    #expect(received(.concatMap) { $0.send(2) } == ["10", "11", "12", "20", "21", "22"])
    #expect(received(.flatMapFirst) { $0.send(2) } == ["10", "11", "12"])
  }

  @Test(arguments: Rival.allCases)
  private func `an ending that comes while a sequence is delivered at once waits for it, a failure does not`(
    rival: Rival
  ) {
    #expect(received(rival) { $0.send(completion: .finished) } == ["10", "11", "12", "|"])
    #expect(received(rival) { $0.send(completion: .failure(Boom())) } == ["10", "11", "#"])
  }

  @Test func `a sequence that is delivered at once stops when the subscriber cancels`() {
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    var subscription: AnyCancellable?
    subscription = subject.flatMapLatest { (0..<$0).publisher }.sink { value in
      values.append(value)
      if value == 1 { subscription = nil }
    }
    subject.send(5)
    #expect(values == [0, 1])
    #expect(subject.send(5) == Delivery())
    withExtendedLifetime(subscription) {}
  }

  private final class Token {}

  @Test func `a stream that is cancelled within the cancellation of a publisher it maps to lets everything go`() {
    let subject = PassthroughSubject<Int, Never>()
    weak var witness: Token?
    var subscription: AnyCancellable?
    do {
      let token = Token()
      witness = token
      subscription = subject.flatMapLatest { [$0].publisher.handleEvents(receiveCancel: { subscription = nil }) }
        .sink {
          withExtendedLifetime(token) {}
          if $0 == 1 { subject.send(2) }
        }
    }
    subject.send(1)
    #expect(subscription == nil)
    #expect(witness == nil)
  }

  @Test func `what upstream sends within the cancellation of a publisher is the newest, and the only one`() {
    let subject = PassthroughSubject<Int, Never>()
    var made: [Int: PassthroughSubject<Int, Never>] = [:]
    var log: [String] = []
    let subscription = subject.flatMapLatest { number in
      let inner = PassthroughSubject<Int, Never>()
      made[number] = inner
      return inner.handleEvents(receiveCancel: {
        log.append("\(number) cancelled")
        if number == 1 { subject.send(100) }
      })
    }.sink { log.append("\($0)") }
    subject.send(1)
    subject.send(2)
    made[2]?.send(21)
    made[100]?.send(101)
    #expect(log == ["1 cancelled", "101"])
    subscription.cancel()
    #expect(log.last == "100 cancelled")
  }

  @Test func `flatMapFirst drops what arrives while a publisher runs`() {
    let recorder = time.hot("-ab---c--|").flatMapFirst { [time] in time.cold("-\($0)-\($0)|") }.record(on: time)
    time.advance(by: 12)
    #expect(recorder.marbles == "--a-a--c-c|")
  }

  @Test func `flatMapFirst finishes when upstream and the publisher that runs have`() {
    let recorder = time.hot("a-|").flatMapFirst { [time] in time.cold("----\($0)|") }.record(on: time)
    time.advance(by: 4)
    #expect(recorder.completion == nil)
    time.advance(by: 2)
    #expect(recorder.completion == .finished)
  }

  @Test func `concatMap loses nothing of a source that does not wait to be asked`() {
    let source = Unasked<Int>()
    var running: [PassthroughSubject<Int, Never>] = []
    let recorder = source.concatMap { _ in
      running.append(PassthroughSubject())
      return running.last!
    }.record(on: time)
    for value in 0..<3 { source.send(value) }
    source.finish()
    #expect(running.count == 1)
    for index in 0..<3 {
      running[index].send(index * 10)
      running[index].send(completion: .finished)
    }
    #expect(recorder.values == [0, 10, 20])
    #expect(recorder.completion == .finished)
  }

  @Test func `concatMap asks upstream for everything, and maps one value at a time`() {
    var asked: [Subscribers.Demand] = []
    let recorder = (0..<3).publisher.handleEvents(receiveRequest: { asked.append($0) })
      .concatMap { [$0, $0].publisher }.record(on: time)
    #expect(recorder.values == [0, 0, 1, 1, 2, 2])
    #expect(asked == [.unlimited])
  }

  @Test func `a hundred thousand publishers that end at once keep concatMap's stack flat`() {
    #expect((0..<100_000).publisher.eraseToAnyPublisher().concatMap { Just($0) }.pulled(.requesting) == 100_000)
  }

  @Test func `concatMap fails at once with upstream, and cancels what runs`() {
    let subject = PassthroughSubject<Int, Boom>()
    var isCancelled = false
    let recorder = subject.concatMap { _ in
      Empty<Int, Boom>(completeImmediately: false).handleEvents(receiveCancel: { isCancelled = true })
    }.record(on: time)
    subject.send(1)
    subject.send(completion: .failure(Boom()))
    #expect(recorder.error == Boom())
    #expect(isCancelled)
  }

  @Test func `expand delivers a tree level by level`() {
    let recorder = Just(1).expand { ($0 < 4 ? [$0 * 2, $0 * 2 + 1] : []).publisher }.record(on: time)
    #expect(recorder.values == [1, 2, 3, 4, 5, 6, 7])
    #expect(recorder.completion == .finished)
  }

  @Test func `expand delivers no more than was asked for`() {
    let recorder = Just(1).expand { Just($0 + 1) }.record(on: time, asking: .max(3))
    #expect(recorder.values == [1, 2, 3])
    recorder.request(.max(2))
    #expect(recorder.values == [1, 2, 3, 4, 5])
    recorder.cancel()
  }

  @Test func `groupBy makes a publisher of each key, with the value that opened it`() {
    let subject = PassthroughSubject<Int, Never>()
    var seen: [String] = []
    let cancellable = subject.groupBy { $0 % 2 == 0 ? "even" : "odd" }
      .flatMap { group in group.map { "\(group.key) \($0)" } }
      .sink { seen.append($0) }
    for value in 1...4 { subject.send(value) }
    #expect(seen == ["odd 1", "even 2", "odd 3", "even 4"])
    cancellable.cancel()
  }

  @Test func `a group holds what nobody has asked for, and its ending`() {
    let groups = [1, 2, 3].publisher.groupBy { $0 % 2 }.record(on: time)
    #expect(groups.completion == .finished)
    let odd = groups.values[0].record(on: time, asking: .max(1))
    #expect(odd.values == [1])
    odd.request(.max(1))
    #expect(odd.values == [1, 3])
    #expect(odd.completion == .finished)
  }

  @Test func `a group that is cancelled is opened anew by the next value`() {
    let subject = PassthroughSubject<Int, Never>()
    let groups = subject.groupBy { _ in 0 }.record(on: time)
    subject.send(1)
    groups.values[0].record(on: time).cancel()
    subject.send(2)
    #expect(groups.values.count == 2)
    #expect(groups.values.last!.record(on: time).values == [2])
    groups.cancel()
  }

  @Test func `cancelling the stream of groups finishes the groups`() {
    let subject = PassthroughSubject<Int, Never>()
    let groups = subject.groupBy { $0 }.record(on: time)
    for key in [1, 2] { subject.send(key) }
    let taken = groups.values[0].record(on: time)
    groups.cancel()
    #expect(taken.values == [1])
    #expect(taken.completion == .finished)
    #expect(groups.values[1].record(on: time).completion == .finished)
  }

  @Test func `a second subscriber to a group traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var cancellables: Set<AnyCancellable> = []
      Just(1).groupBy { $0 }.sink { group in
        group.sink { _ in }.store(in: &cancellables)
        group.sink { _ in }.store(in: &cancellables)
      }.store(in: &cancellables)
    }
    #expect(result?.says("share() it for more") == true)
  }

  @Test func `asking for values of flatMap with room for no publisher traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = [1, 2].publisher.flatMap(maxPublishers: .none) { Just($0) }.sink { _ in }
    }
    #expect(result?.says("flatMap(maxPublishers: .none)") == true)
    #expect(result?.says("use .max(1) or more") == true)
  }
}

/// Sends without being asked.
private final class Unasked<Output>: Publisher, Subscription {
  typealias Failure = Never
  private var next: ((Output) -> Void)?
  private var end: (() -> Void)?

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    next = { _ = subscriber.receive($0) }
    end = { subscriber.receive(completion: .finished) }
    subscriber.receive(subscription: self)
  }

  func send(_ value: Output) { next?(value) }
  func finish() { end?() }
  func request(_ demand: Subscribers.Demand) {}
  func cancel() {
    next = nil
    end = nil
  }
}
