import FeedStream
import FeedStreamTesting

private final class Buffer: Holding {
  private lazy var size = 1 + parameters[0, below: 3]
  private lazy var keepsFull = parameters[1, below: 2] == 1
  /// 0 drops the newest, 1 the oldest.
  private lazy var whenFull = parameters[2, below: 2]

  override func began(_ source: Int) -> [Effect] { [.request(0, keepsFull ? size : .max), .handOut()] }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if ready.count < size {
      ready.append(value)
    } else if whenFull == 1 {
      ready.removeFirst()
      ready.append(value)
    }
    return deliver()
  }
  /// The number of delivered values; that many are requested again when no more can be delivered.
  private var passed = 0
  override func delivered() -> [Effect] {
    passed += 1
    return []
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    let effects = super.then(token, one, other)
    guard keepsFull, !isDelivering, passed > 0, ending == nil else { return effects }
    defer { passed = 0 }
    return effects + [.request(0, passed)]
  }
  override func mayEnd(_ ending: Ending) -> Bool { ending != .finished || (ready.isEmpty && demand > 0) }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = ending
    return deliver()
  }
}

private final class Replacing: Holding {
  enum What { case empty, error }
  private let what: What
  private var hasValue = false
  init(_ parameters: Parameters, _ what: What) {
    self.what = what
    super.init(parameters)
  }
  required init(_ parameters: Parameters) {
    what = .empty
    super.init(parameters)
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return ending == nil ? [.request(0, count)] : deliver()
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    hasValue = true
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    let replaces = what == .error ? ending != .finished : ending == .finished && !hasValue
    guard replaces else { return [.end(ending)] }
    self.ending = .finished
    ready = [7]
    return deliver()
  }
}

/// Holds the newest value. A request within a delivery is served after it; until then, a newer value replaces the held
/// one.
private final class Newest: Model {
  private var held: Int?
  private var demand = 0
  private var depth = 0
  private var ending: Ending?
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return depth == 0 ? serve() : []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard held == nil, demand > 0 else {
      held = value
      return serve()
    }
    return pass(value)
  }
  // If a failure arrives within a delivery, the demand that the delivery returns may still request the held value.
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = ending
    return depth > 0 && held != nil ? [] : serve()
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    depth -= 1
    return serve()
  }
  private func pass(_ value: Int) -> [Effect] {
    if demand != .max { demand -= 1 }
    depth += 1
    return [.emit(value), .then(0)]
  }
  private func serve() -> [Effect] {
    if let held, demand > 0 {
      if depth > 0 { return [] }
      self.held = nil
      return pass(held)
    }
    return ending.map { $0 == .finished && held != nil ? [] : [.end($0)] } ?? []
  }
}

/// `onBackpressureDrop` and `onBackpressureError`.
private final class Pressed: Model {
  enum What { case drop, error }
  private let what: What
  private var demand = 0
  init(_ parameters: Parameters, _ what: What) {
    self.what = what
    super.init(parameters)
  }
  required init(_ parameters: Parameters) {
    what = .drop
    super.init(parameters)
  }
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard demand > 0 else { return what == .error ? [.end(.failed(9))] : [] }
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
}

var holding: [Definition] {
  [
    Definition(
      name: "buffer", model: { Buffer($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().buffer(
          size: 1 + parameters[0, below: 3], prefetch: parameters[1, below: 2] == 1 ? .keepFull : .byRequest,
          whenFull: parameters[2, below: 2] == 1 ? .dropOldest : .dropNewest
        ).eraseToAnyPublisher()
      }),
    Definition(
      name: "replaceEmpty", model: { Replacing($0, .empty) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().replaceEmpty(with: 7).eraseToAnyPublisher()
      }),
    Definition(
      name: "replaceError", model: { Replacing($0, .error) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().replaceError(with: 7).setFailureType(to: TestError.self).eraseToAnyPublisher()
      }),
    Definition(
      name: "onBackpressureDrop", model: { Pressed($0, .drop) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().onBackpressureDrop().eraseToAnyPublisher()
      }),
    Definition(
      name: "onBackpressureLatest", model: { Newest($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in context.source().onBackpressureLatest().eraseToAnyPublisher()
      }),
    Definition(
      name: "onBackpressureError", model: { Pressed($0, .error) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().onBackpressureError { (_: Int) -> TestError in TestError(code: 9) }.eraseToAnyPublisher()
      }),
  ]
}
