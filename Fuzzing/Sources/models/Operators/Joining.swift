import FeedStream
import FeedStreamTesting

/// A model of several publishers that are all subscribed to before the subscriber gets its subscription. Events and
/// requests that arrive within a delivery are handled after it. Requests reach the publishers when nothing is left to
/// deliver, and the publisher whose value led to the delivery is the last of them.
private class Joint: Model {
  let arity: Int
  var demand = 0
  /// The demand that has not reached the publishers yet.
  private var owed = 0
  private(set) var isDelivering = true
  var failure: Ending?
  /// True when a failure has cancelled the publishers, including those that are not subscribed to yet.
  private var isStopped = false

  init(_ parameters: Parameters, arity: Int) {
    self.arity = arity
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a joint model has an arity") }

  override func subscribed(_ probe: Int) -> [Effect] { (0..<arity).map { .subscribe($0) } + [.then(2)] }
  override func began(_ source: Int) -> [Effect] { isStopped ? [.stop(source)] : [] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    owed = sum(owed, count)
    return deliver(nil)
  }
  // A combination that is made before a delivery returns its demand had no demand at that time: a newer one may replace
  // it.
  override func answered(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    owed = sum(owed, count)
    return []
  }
  func deliver(_ source: Int?) -> [Effect] {
    guard !isDelivering else {
      hold()
      return []
    }
    isDelivering = true
    return [.then(1, source ?? -1)]
  }
  override func then(_ token: Int, _ source: Int, _ other: Int) -> [Effect] {
    if token == 2 {
      isDelivering = false
      return [.handOut(), .then(3)]
    }
    if token == 3 { return settle() }
    if let row = next() {
      if demand != .max { demand -= 1 }
      return [.emit(row), .then(1, source)]
    }
    isDelivering = false
    let ending = settle()
    guard ending.isEmpty, owed > 0 else { return ending }
    defer { owed = 0 }
    let others = (0..<arity).filter { $0 != source }
    return (others + (source < 0 ? [] : [source])).map { .request($0, owed) }
  }
  func settle() -> [Effect] {
    guard !isDelivering else { return [] }
    return (failure ?? (isDone ? .finished : nil)).map { [.end($0)] } ?? []
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    // Of two completions, the first counts, even when it has to wait.
    if ending != .finished, failure == nil, !isDecided { failure = ending }
    close(source)
    guard ending != .finished, isDelivering else { return settle() }
    isStopped = true
    return [.stopAll]
  }

  /// The next row to deliver.
  func next() -> Int? { nil }
  /// Keeps a requested row, before a newer value replaces it.
  func hold() {}
  func close(_ source: Int) {}
  /// True when the stream finishes.
  var isDone: Bool { false }
  /// True when the stream will finish once everything has been delivered.
  var isDecided: Bool { isDone }
}

private final class Zipping: Joint {
  private lazy var queues: [[Int]] = Array(repeating: [], count: arity)
  private lazy var hasEnded: [Bool] = Array(repeating: false, count: arity)
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    queues[source].append(value)
    return deliver(source)
  }
  override func next() -> Int? {
    guard !queues.contains([]) else { return nil }
    defer { for index in queues.indices { queues[index].removeFirst() } }
    return digits(queues.map { $0[0] })
  }
  override func close(_ source: Int) { hasEnded[source] = true }
  override var isDone: Bool { queues.indices.contains { hasEnded[$0] && queues[$0].isEmpty } }
  override var isDecided: Bool {
    let complete = queues.map(\.count).min()!
    return queues.indices.contains { hasEnded[$0] && queues[$0].count == complete }
  }
}

private final class CombiningLatest: Joint {
  private lazy var latest: [Int?] = Array(repeating: nil, count: arity)
  private lazy var open = arity
  private var isNew = false
  private var cannotCombine = false
  /// Combinations made within a delivery, for which there is demand.
  private var waiting: [Int] = []
  private var row: Int? {
    let row = latest.compactMap { $0 }
    return isNew && row.count == arity ? digits(row) : nil
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    latest[source] = value
    isNew = true
    return deliver(source)
  }
  override func hold() {
    guard let row, demand > waiting.count else { return }
    isNew = false
    waiting.append(row)
  }
  override func next() -> Int? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    guard let row, demand > 0, !cannotCombine else { return nil }
    isNew = false
    return row
  }
  override func close(_ source: Int) {
    open -= 1
    if latest[source] == nil { cannotCombine = true }
  }
  // The newest combination, if there is no demand for it, is delivered before the completion.
  override var isDone: Bool { cannotCombine || (open == 0 && row == nil) }
  override var isDecided: Bool { cannotCombine }
}

var joining: [Definition] {
  [
    Definition(
      name: "zip", shape: Shape(upstreams: 2), model: { Zipping($0, arity: 2) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).zip(context.source(1)) { (a: Int, b: Int) -> Int in digits([a, b]) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "zip of 3", shape: Shape(upstreams: 3), model: { Zipping($0, arity: 3) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).zip(context.source(1), context.source(2)) { (a: Int, b: Int, c: Int) -> Int in
          digits([a, b, c])
        }
        .eraseToAnyPublisher()
      }),
    Definition(
      name: "zip of 4", shape: Shape(upstreams: 4), model: { Zipping($0, arity: 4) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).zip(context.source(1), context.source(2), context.source(3)) {
          (a: Int, b: Int, c: Int, d: Int) -> Int in digits([a, b, c, d])
        }.eraseToAnyPublisher()
      }),
    Definition(
      name: "zip of a collection", shape: Shape(upstreams: 3), model: { Zipping($0, arity: 3) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        [context.source(0), context.source(1), context.source(2)].zip().map { (row: [Int]) -> Int in digits(row) }
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "zip of a pack", shape: Shape(upstreams: 5), model: { Zipping($0, arity: 5) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        zip(context.source(0), context.source(1), context.source(2), context.source(3), context.source(4)).map {
          (a: Int, b: Int, c: Int, d: Int, e: Int) -> Int in digits([a, b, c, d, e])
        }.eraseToAnyPublisher()
      }),
    Definition(
      name: "combineLatest of a pack", shape: Shape(upstreams: 5), model: { CombiningLatest($0, arity: 5) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        combineLatest(context.source(0), context.source(1), context.source(2), context.source(3), context.source(4))
          .map { (a: Int, b: Int, c: Int, d: Int, e: Int) -> Int in digits([a, b, c, d, e]) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "combineLatest", shape: Shape(upstreams: 2), model: { CombiningLatest($0, arity: 2) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).combineLatest(context.source(1)) { (a: Int, b: Int) -> Int in digits([a, b]) }
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "combineLatest of 3", shape: Shape(upstreams: 3), model: { CombiningLatest($0, arity: 3) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).combineLatest(context.source(1), context.source(2)) {
          (a: Int, b: Int, c: Int) -> Int in digits([a, b, c])
        }.eraseToAnyPublisher()
      }),
    Definition(
      name: "combineLatest of 4", shape: Shape(upstreams: 4), model: { CombiningLatest($0, arity: 4) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).combineLatest(context.source(1), context.source(2), context.source(3)) {
          (a: Int, b: Int, c: Int, d: Int) -> Int in digits([a, b, c, d])
        }.eraseToAnyPublisher()
      }),
    Definition(
      name: "combineLatest of a collection", shape: Shape(upstreams: 3), model: { CombiningLatest($0, arity: 3) },
      build: { context -> AnyPublisher<Int, TestError> in
        [context.source(0), context.source(1), context.source(2)].combineLatest()
          .map { (row: [Int]) -> Int in digits(row) }.eraseToAnyPublisher()
      }),
  ]
}
