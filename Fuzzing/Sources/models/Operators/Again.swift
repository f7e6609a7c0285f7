import FeedStream
import FeedStreamTesting

/// Subscribes again after a completion, once a subscription in progress has returned.
private final class Again: Model {
  private let follows: (Ending) -> Bool
  private var left: Int
  private var demand = 0
  private var latest = 0
  private var isSubscribing = false
  private var isWaiting = false
  /// True if the subscriber receives its subscription before upstream is subscribed to.
  private let defers: Bool
  /// The milliseconds between a completion and the next subscription.
  private let pause: Int
  private var isHandingOut: Bool
  init(
    _ parameters: Parameters, times: Int, defers: Bool = false, pause: Int = 0, _ follows: @escaping (Ending) -> Bool
  ) {
    self.follows = follows
    self.defers = defers
    self.pause = pause
    isHandingOut = defers
    left = times
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a model of repetition has a limit") }
  override func subscribed(_ probe: Int) -> [Effect] { defers ? [.handOut(), .then(1)] : play() }
  private func play() -> [Effect] {
    isSubscribing = true
    return [.subscribe(0), .then(0)]
  }
  override func began(_ source: Int) -> [Effect] {
    latest = source
    return source == 0 && !defers ? [.handOut()] : [.request(source, demand)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return isHandingOut ? [] : [.request(latest, count)]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard left > 0, follows(ending) else { return [.end(ending)] }
    left -= 1
    if pause > 0 { return [.wait(pause, token: 0)] }
    if !isSubscribing { return play() }
    isWaiting = true
    return []
  }
  override func due(_ token: Int) -> [Effect] { play() }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if token == 1 {
      isHandingOut = false
      return play()
    }
    isSubscribing = false
    guard isWaiting else { return [] }
    isWaiting = false
    return play()
  }
}

/// `retry(when:)`: subscribes again at each value of a signal; one value of the signal is requested after each failure.
private final class AgainWhen: Model {
  private var demand = 0
  private var latest: Int?
  private var isSubscribing = false
  private var isWaiting = false
  /// The signal's completion, while its last value waits to be served.
  private var ending: Ending?
  override func subscribed(_ probe: Int) -> [Effect] { [.handOut(), .subscribe(1), .then(1)] }
  override func began(_ source: Int) -> [Effect] {
    if source == 0 { return [] }
    latest = source
    return [.request(source, demand)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return latest.map { [.request($0, count)] } ?? []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if source == 0 { return play() }
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    if source == 0 {
      if !isWaiting { return [.end(ending)] }
      self.ending = ending
      return []
    }
    return ending == .finished ? [.end(.finished)] : [.request(0, 1)]
  }
  private func play() -> [Effect] {
    isWaiting = isSubscribing
    if isWaiting { return [] }
    isSubscribing = true
    return [.subscribe(0), .then(0)]
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if token == 1 { return play() }
    isSubscribing = false
    if isWaiting { return play() }
    return ending.map { [.end($0)] } ?? []
  }
}

/// `materialize`: the completion is a value, too.
private final class Materializing: Holding {
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return ending == nil ? [.request(0, count)] : deliver()
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = .finished
    if case .failed(let code) = ending { ready = [-2 - code] } else { ready = [-1] }
    return deliver()
  }
}

/// A subject that keeps the last values; a value that is sent within a delivery follows it.
class Replaying: Model {
  private let keeps: Int
  private var values: [Int] = []
  private(set) var ending: Ending?
  private(set) var attached: [Int] = []
  private var demand: [Int: Int] = [:]
  /// The index of each subscriber's next value.
  private var place: [Int: Int] = [:]
  private var isServing: Set<Int> = []
  private var depth = 0
  private var first = 0

  init(_ parameters: Parameters, keeps: Int) {
    self.keeps = keeps
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a subject keeps a number of values") }
  override var isShared: Bool { true }
  override func subscribed(_ probe: Int) -> [Effect] {
    attached.append(probe)
    place[probe] = max(first, values.count - keeps)
    // If a completion is in progress, subscribers that attached earlier receive it earlier.
    return [.handOut(probe)] + (ending == nil ? [] : attached.map { .then(0, $0) })
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand[probe] = sum(demand[probe] ?? 0, count)
    return serve(probe)
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard ending == nil else { return [] }
    values.append(value)
    depth += 1
    return attached.map { .then(0, $0) } + [.then(2)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard self.ending == nil else { return [] }
    self.ending = ending
    return attached.map { .then(0, $0) }
  }
  override func cancelled(_ probe: Int) -> [Effect] {
    attached.removeAll { $0 == probe }
    return []
  }
  /// Nothing is discarded during a delivery, so that a value sent within one reaches every subscriber with demand.
  private func discard() { if depth == 0 { first = max(first, values.count - keeps) } }
  private func serve(_ probe: Int) -> [Effect] { isServing.contains(probe) ? [] : [.then(0, probe)] }

  override func then(_ token: Int, _ probe: Int, _ other: Int) -> [Effect] {
    if token > 0 {
      if token == 1 { isServing.remove(probe) }
      depth -= 1
      discard()
      if token == 2 { return [] }
    }
    guard attached.contains(probe), !isServing.contains(probe) else { return [] }
    let next = max(place[probe]!, first)
    if next < values.count {
      guard let left = demand[probe], left > 0 else { return [] }
      if left != .max { demand[probe] = left - 1 }
      place[probe] = next + 1
      isServing.insert(probe)
      depth += 1
      return [.emit(values[next], to: probe), .then(1, probe)]
    }
    guard let ending else { return [] }
    attached.removeAll { $0 == probe }
    return [.end(ending, to: probe)]
  }
}

var again: [Definition] {
  [
    Definition(
      name: "retry", model: { Again($0, times: $0[0, below: 4]) { $0 != .finished } },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().retry(context.parameters[0, below: 4]).eraseToAnyPublisher()
      }),
    Definition(
      name: "retry with a policy",
      model: {
        Again($0, times: $0[0, below: 4], defers: true, pause: [0, 5, 45][$0[1, below: 3]]) { $0 != .finished }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().retry(
          .constant(.milliseconds([0, 5, 45][parameters[1, below: 3]]), limit: parameters[0, below: 4]),
          scheduler: context.time
        ).eraseToAnyPublisher()
      }),
    Definition(
      name: "retry(when:)", shape: Shape(upstreams: 2), model: { AgainWhen($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(0).retry(when: { _ in context.source(1) }).eraseToAnyPublisher()
      }),
    Definition(
      name: "repeat", model: { Again($0, times: $0[0, below: 4], defers: true) { $0 == .finished } },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().repeat(1 + context.parameters[0, below: 4]).eraseToAnyPublisher()
      }),
    Definition(
      name: "materialize", model: { Materializing($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().materialize().map { (signal: Signal<Int, TestError>) -> Int in
          switch signal {
          case .value(let value): value
          case .completion(.finished): -1
          case .completion(.failure(let error)): -2 - error.code
          }
        }.setFailureType(to: TestError.self).eraseToAnyPublisher()
      }),
    // The result is the values, in order. Everything is requested, because a group may hold any number of values.
    // Nothing is sent within a delivery, because a group is delivered before values that arrive meanwhile.
    Definition(
      name: "groupBy", shape: Shape(sendsWithin: false, isUnlimited: true), model: { Grouping($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().groupBy { (value: Int) -> Int in value % 2 }.flatMap {
          (group) -> AnyPublisher<Int, TestError> in
          group.map { (value: Int) -> Int in digits([group.key, value]) }.eraseToAnyPublisher()
        }.eraseToAnyPublisher()
      }),
    // Nothing is sent within a delivery, because the values that are discarded meanwhile depend on the order of the
    // subscribers.
    Definition(
      name: "ReplaySubject", shape: Shape(probes: 3, hot: [0], steps: 12, sendsWithin: false),
      model: { Replaying($0, keeps: $0[0, below: 4]) },
      build: { context -> AnyPublisher<Int, TestError> in
        let subject = ReplaySubject<Int, TestError>(count: context.parameters[0, below: 4])
        context.inlet(0, subject)
        return subject.eraseToAnyPublisher()
      }),
  ]
}

private final class Grouping: Model {
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { [] }
  override func value(_ value: Int, _ source: Int) -> [Effect] { [.emit(digits([value % 2, value]))] }
}
