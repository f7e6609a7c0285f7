import FeedStream
import FeedStreamTesting

/// `race`: only the publisher that is first is forwarded.
private final class Racing: Model {
  private var demand = 0
  private var runners: [Int] = []
  private var winner: Int?
  private let arity: Int
  init(_ parameters: Parameters, arity: Int) {
    self.arity = arity
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a race has an arity") }
  override func subscribed(_ probe: Int) -> [Effect] { [.handOut()] + (0..<arity).map { .then($0) } }
  // If a publisher wins while it is being subscribed to, the others aren't subscribed to.
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] { winner == nil ? [.subscribe(token)] : [] }
  override func began(_ source: Int) -> [Effect] {
    runners.append(source)
    return [.request(source, demand)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    if let winner { return [.request(winner, count)] }
    demand = sum(demand, count)
    return runners.map { .request($0, count) }
  }
  private func win(_ source: Int) -> [Effect] {
    guard winner == nil else { return [] }
    winner = source
    return runners.filter { $0 != source }.map { .stop($0) }
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] { win(source) + [.emit(value)] }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] { win(source) + [.end(ending)] }
}

/// `expand`: each value, and then the values of the publishers made from them, in the order of the values.
private final class Expanding: Model {
  private var demand = 0
  private var toExpand: [Int] = []
  private var latest: Int?
  private var isSubscribing = false
  private var next: Int?
  override func subscribed(_ probe: Int) -> [Effect] { [.handOut(), .then(1)] }
  override func began(_ source: Int) -> [Effect] {
    latest = source
    return [.request(source, demand)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return latest.map { [.request($0, count)] } ?? []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    toExpand.append(value)
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard ending == .finished else { return [.end(ending)] }
    latest = nil
    // Every third value has no publisher.
    while let value = toExpand.first {
      toExpand.removeFirst()
      if value % 3 > 0 { return play(1 + value % 2) }
    }
    return [.end(.finished)]
  }
  private func play(_ spec: Int) -> [Effect] {
    guard !isSubscribing else {
      next = spec
      return []
    }
    isSubscribing = true
    return [.subscribe(spec), .then(0)]
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if token == 1 { return play(0) }
    isSubscribing = false
    guard let spec = next else { return [] }
    next = nil
    return play(spec)
  }
}

/// `dematerialize`: the values 6 and 7 are completions. One value more than the demand is requested, because it may be
/// a completion; if it isn't, it is held.
private final class Dematerializing: Model {
  private var demand = 0
  private var held: Int?
  private var ending: Ending?
  /// The demand that was returned for values; it is requested upstream when nothing more can be delivered.
  private var owed = 0
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, 1)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return deliverHeld(count)
  }
  override func answered(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    owed = sum(owed, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if value >= 6 { return complete(value == 6 ? .failed(1) : .finished) }
    guard demand > 0 else {
      held = value
      return []
    }
    if demand != .max { demand -= 1 }
    return [.emit(value), .then(0)]
  }
  // A publisher of signals cannot fail.
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] { complete(.finished) }
  private func complete(_ ending: Ending) -> [Effect] {
    guard self.ending == nil else { return [] }
    guard held != nil else { return [.end(ending)] }
    self.ending = ending
    return [.stopAll]
  }
  private func deliverHeld(_ count: Int) -> [Effect] {
    // Within the delivery of the held value, nothing is left to deliver, and the completion follows the delivery.
    guard demand > 0, let value = held else { return [.then(2, count)] }
    held = nil
    if demand != .max { demand -= 1 }
    return [.emit(value), .then(1, count)]
  }
  override func then(_ token: Int, _ count: Int, _ other: Int) -> [Effect] {
    if token == 0 { return deliverHeld(0) }
    if token == 1, let ending, held == nil { return [.end(ending)] }
    defer { owed = 0 }
    return [.request(0, sum(owed, count))]
  }
}

/// `drop(untilOutputFrom:)`: dropped values count as delivered.
private final class DroppingUntil: Model {
  private var pending = 0
  private var isOpen = false
  private var isOver = false
  private var hasBegun = false
  override var isShared: Bool { true }
  override func subscribed(_ probe: Int) -> [Effect] { [.handOut(), .subscribe(0), .subscribe(1)] }
  override func began(_ source: Int) -> [Effect] {
    if isOver { return [.stop(source)] }
    if source == 0 { return [.request(0, 1)] }
    hasBegun = true
    return [.request(1, pending)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    if hasBegun { return [.request(1, count)] }
    pending = sum(pending, count)
    return []
  }
  override func cancelled(_ probe: Int) -> [Effect] {
    isOver = true
    return [.stopAll]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if source == 0 { isOpen = true }
    return source == 1 && isOpen ? [.emit(value)] : []
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    if isOver || (source == 0 && isOpen) { return [] }
    isOver = true
    return [.stopAll, .end(ending)]
  }
}

var choosing: [Definition] {
  [
    Definition(
      name: "race", shape: Shape(upstreams: 2), model: { Racing($0, arity: 2) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(0).race(with: context.source(1)).eraseToAnyPublisher()
      }),
    Definition(
      name: "race of a collection", shape: Shape(upstreams: 3), model: { Racing($0, arity: 3) },
      build: { context -> AnyPublisher<Int, TestError> in
        [context.source(0), context.source(1), context.source(2)].race().eraseToAnyPublisher()
      }),
    Definition(
      name: "expand", shape: Shape(inners: 2), model: { Expanding($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(0).expand { (value: Int) -> AnyPublisher<Int, TestError> in
          value % 3 > 0 ? context.source(1 + value % 2).eraseToAnyPublisher() : Empty().eraseToAnyPublisher()
        }.eraseToAnyPublisher()
      }),
    Definition(
      name: "dematerialize", model: { Dematerializing($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.trigger(0).map { (value: Int) -> Signal<Int, TestError> in
          switch value {
          case 6: .completion(.failure(TestError(code: 1)))
          case 7: .completion(.finished)
          default: .value(value)
          }
        }.dematerialize().eraseToAnyPublisher()
      }),
    // The trigger is the first publisher of the case. It must not complete while it is being subscribed to: upstream
    // then behaves as in Combine, as CONTRACT.md says.
    Definition(
      name: "drop(untilOutputFrom:)", shape: Shape(upstreams: 2, kinds: [.timed, .hot]), model: { DroppingUntil($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(1).drop(untilOutputFrom: context.source(0)).eraseToAnyPublisher()
      }),
  ]
}
