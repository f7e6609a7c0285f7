import FeedStream
import FeedStreamTesting

/// Forwards one publisher at a time, that of the latest value; each gets the outstanding demand.
private final class Switching: Model {
  enum Kind { case latest, first, concat }
  private let kind: Kind
  private var demand = 0
  private var current: Int?
  private var isOuterOpen = true
  private var waiting: [Int] = []
  private var isRunning = false
  /// True when the subscriber has its subscription; a completion that arrives earlier is delivered after that.
  private var hasBegun = false
  private var failure: Ending?
  /// A publisher that arrives within the subscription to another is subscribed after that, which keeps the stack flat.
  private var isSubscribing = false
  private var next: Int?
  init(_ parameters: Parameters, _ kind: Kind) {
    self.kind = kind
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a switching model has a kind") }
  override func began(_ source: Int) -> [Effect] {
    if source == 0 { return [.handOut(), .then(1), .request(0, .max)] }
    current = source
    return [.request(source, demand)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return current.map { [.request($0, count)] } ?? []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if source > 0 {
      guard source == current else { return [] }
      if demand != .max { demand -= 1 }
      return [.emit(value)]
    }
    let spec = 1 + value % 2
    switch kind {
    case .first where isRunning: return []
    case .concat where isRunning:
      waiting.append(spec)
      return []
    default:
      isRunning = true
      let old = current
      current = nil
      return (old.map { [.stop($0)] } ?? []) + play(spec)
    }
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
    if token == 1 {
      hasBegun = true
      if let failure { return [.end(failure)] }
      return !isOuterOpen && !isRunning ? [.end(.finished)] : []
    }
    isSubscribing = false
    guard let spec = next else { return [] }
    next = nil
    return play(spec)
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    if ending != .finished {
      if source == 0, !hasBegun { failure = ending }
      return hasBegun && (source == 0 || source == current) ? [.end(ending)] : []
    }
    if source == 0 {
      isOuterOpen = false
      return isRunning || !hasBegun ? [] : [.end(.finished)]
    }
    guard source == current else { return [] }
    current = nil
    if !waiting.isEmpty { return play(waiting.removeFirst()) }
    isRunning = false
    return isOuterOpen ? [] : [.end(.finished)]
  }
}

var switching: [Definition] {
  let shape = Shape(upstreams: 1, inners: 2)
  return [
    Definition(
      name: "switchToLatest", shape: shape, model: { Switching($0, .latest) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).map { (value: Int) -> Upstream in context.source(1 + value % 2) }.switchToLatest()
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "flatMapLatest", shape: shape, model: { Switching($0, .latest) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).flatMapLatest { (value: Int) -> Upstream in context.source(1 + value % 2) }
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "flatMapFirst", shape: shape, model: { Switching($0, .first) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).flatMapFirst { (value: Int) -> Upstream in context.source(1 + value % 2) }
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "concatMap", shape: shape, model: { Switching($0, .concat) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).concatMap { (value: Int) -> Upstream in context.source(1 + value % 2) }.eraseToAnyPublisher()
      }),
  ]
}
