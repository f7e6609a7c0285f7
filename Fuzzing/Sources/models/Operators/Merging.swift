import FeedStream
import FeedStreamTesting

/// Values of several publishers as they arrive. While the demand is limited, one value at a time is requested from
/// each, and a value without demand is held.
class Merging: Model {
  private(set) var held: [(value: Int, source: Int)] = []
  private var demand = 0
  /// True while held values are being delivered: values that arrive meanwhile follow.
  private var isDelivering = false
  /// The number of values that are being delivered without having been held.
  private var direct = 0
  var open: Set<Int> = []
  /// The publishers from which everything was requested.
  private var unlimited: Set<Int> = []
  private var failure: Ending?

  /// True when no further publisher can be added.
  func isComplete() -> Bool { open.isEmpty }
  func joined(_ source: Int) -> [Effect] {
    open.insert(source)
    if demand == .max { unlimited.insert(source) }
    return [.request(source, demand == .max ? .max : 1)]
  }
  private func more(_ source: Int) -> [Effect] {
    if failure != nil || unlimited.contains(source) { return [] }
    if demand == .max { unlimited.insert(source) }
    return [.request(source, demand == .max ? .max : 1)]
  }
  private func takeOne() { if demand != .max { demand -= 1 } }

  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return isDelivering ? [] : deliver() + [.then(1)]
  }
  override func answered(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard held.isEmpty, demand == .max || (demand > 0 && !isDelivering) else {
      held.append((value, source))
      return []
    }
    takeOne()
    direct += 1
    return [.emit(value), .then(2), .then(3, source)]
  }
  private func deliver() -> [Effect] {
    guard !isDelivering, !held.isEmpty else { return [] }
    isDelivering = true
    return [.then(0)]
  }
  override func then(_ token: Int, _ source: Int, _ other: Int) -> [Effect] {
    switch token {
    case 1: return demand == .max ? open.sorted().flatMap(more) : []
    case 2:
      direct -= 1
      return deliver()
    case 3: return more(source)
    case 5: return delivered(source)
    default: break
    }
    if demand > 0, !held.isEmpty {
      takeOne()
      let (value, source) = held.removeFirst()
      return [.emit(value), .then(3, source), .then(5, source), .then(0)]
    }
    isDelivering = false
    return settle()
  }
  func settle() -> [Effect] {
    if let failure { return direct > 0 && !held.isEmpty ? [] : [.end(failure)] }
    return held.isEmpty && isComplete() ? [.end(.finished)] : []
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    open.remove(source)
    guard ending == .finished else {
      if failure == nil { failure = ending }
      return (isDelivering || direct > 0) && !held.isEmpty ? [.stopAll] : settle()
    }
    let more = left(source)
    return (failure == nil ? settle() : []) + more
  }
  func left(_ source: Int) -> [Effect] { [] }
  /// Called when a held value of this source has been delivered.
  func delivered(_ source: Int) -> [Effect] { [] }
}

private final class Merge: Merging {
  private let arity: Int
  private var started = 0
  init(_ parameters: Parameters, arity: Int) {
    self.arity = arity
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a merge has an arity") }
  override func subscribed(_ probe: Int) -> [Effect] { [.handOut()] + (0..<arity).map { .subscribe($0) } }
  override func began(_ source: Int) -> [Effect] {
    started += 1
    return joined(source)
  }
  override func isComplete() -> Bool { started == arity && open.isEmpty }
}

private final class FlatMap: Merging {
  private lazy var limit = [1, 2, Int.max][parameters[0, below: 3]]
  private var isOuterOpen = true
  private var hasBegun = false
  /// The publishers that have finished, and whose values are still held.
  private var leftEarly: Set<Int> = []
  override func began(_ source: Int) -> [Effect] {
    source == 0 ? [.handOut(), .then(4), .request(0, limit)] : joined(source)
  }
  override func then(_ token: Int, _ source: Int, _ other: Int) -> [Effect] {
    guard token == 4 else { return super.then(token, source, other) }
    hasBegun = true
    return settle()
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    source == 0 ? [.subscribe(1 + value % 2)] : super.value(value, source)
  }
  override func left(_ source: Int) -> [Effect] {
    if source == 0 {
      isOuterOpen = false
      return []
    }
    guard isHeld(source) else { return next() }
    leftEarly.insert(source)
    return []
  }
  override func delivered(_ source: Int) -> [Effect] {
    !isHeld(source) && leftEarly.remove(source) != nil ? next() : []
  }
  private func isHeld(_ source: Int) -> Bool { held.contains { $0.source == source } }
  private func next() -> [Effect] { limit != .max ? [.request(0, 1)] : [] }
  override func isComplete() -> Bool { hasBegun && !isOuterOpen && open.isEmpty }
  // A completion that arrives before the subscriber has its subscription is delivered after that.
  override func settle() -> [Effect] { hasBegun ? super.settle() : [] }
}

var merging: [Definition] {
  [
    Definition(
      name: "merge", shape: Shape(upstreams: 2), model: { Merge($0, arity: 2) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).map { (value: Int) -> Int in value }.merge(with: context.source(1)).eraseToAnyPublisher()
      }),
    Definition(
      name: "merge of 3", shape: Shape(upstreams: 3), model: { Merge($0, arity: 3) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).merge(with: context.source(1), context.source(2)).eraseToAnyPublisher()
      }),
    Definition(
      name: "merge of a collection", shape: Shape(upstreams: 3), model: { Merge($0, arity: 3) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        [context.source(0), context.source(1), context.source(2)].merge().eraseToAnyPublisher()
      }),
    Definition(
      name: "flatMap", shape: Shape(upstreams: 1, inners: 2), model: { FlatMap($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        let limits: [Subscribers.Demand] = [.max(1), .max(2), .unlimited]
        return context.source(0).flatMap(maxPublishers: limits[context.parameters[0, below: 3]]) {
          (value: Int) -> Upstream in context.source(1 + value % 2)
        }.eraseToAnyPublisher()
      }),
  ]
}
