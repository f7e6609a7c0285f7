import FeedStream
import FeedStreamTesting

/// Holds ready values until they are requested; a request within a delivery is served after it.
class Holding: Model {
  var ready: [Int] = []
  var demand = 0
  /// Upstream's completion, which is delivered after the ready values.
  var ending: Ending?
  private(set) var isDelivering = false

  func deliver() -> [Effect] {
    if isDelivering { return [] }
    isDelivering = true
    return [.then(0)]
  }

  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if demand > 0, !ready.isEmpty {
      if demand != .max { demand -= 1 }
      return [.emit(ready.removeFirst())] + delivered() + [.then(0)]
    }
    isDelivering = false
    guard let ending, mayEnd(ending) else { return [] }
    return [.end(ending)]
  }

  /// The effects after each value.
  func delivered() -> [Effect] { [] }
  func mayEnd(_ ending: Ending) -> Bool { ready.isEmpty || ending != .finished }

  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return deliver()
  }
}

private final class ByCount: Model {
  private lazy var count = 1 + parameters[0, below: 4]
  private var values: [Int] = []
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { [.request(0, product(count, self.count))] }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    values.append(value)
    guard values.count == count else { return [] }
    defer { values = [] }
    return [.emit(digits(values))]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    ending == .finished && !values.isEmpty ? [.emit(digits(values)), .end(ending)] : [.end(ending)]
  }
}

private final class ByStep: Holding {
  private lazy var count = 1 + parameters[0, below: 4]
  private lazy var step = 1 + parameters[1, below: 4]
  private var values: [Int] = []
  private var hasAsked = false
  /// The demand that was returned for arrays; it is requested upstream when no more arrays can be delivered.
  private var owed = 0
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { [.request(0, take(count)), .then(1)] }
  override func answered(_ count: Int, _ probe: Int) -> [Effect] {
    owed = sum(owed, take(count))
    return []
  }
  private func take(_ count: Int) -> Int {
    let first = hasAsked ? 0 : self.count - step
    hasAsked = true
    let more = product(count, step)
    demand = sum(demand, count)
    return more == .max ? .max : more + first
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if token == 1 { return deliver() }
    let effects = super.then(token, one, other)
    guard !isDelivering, owed > 0, ending == nil else { return effects }
    defer { owed = 0 }
    return effects + [.request(0, owed)]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    values.append(value)
    let last = values.count - count
    guard last >= 0, last % step == 0 else { return [] }
    ready.append(digits(values.suffix(count)))
    return deliver()
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = ending
    if ending == .finished {
      var start = 0
      while start < values.count {
        if start + count > values.count { ready.append(digits(values[start...])) }
        start += step
      }
    }
    return deliver()
  }
}

private final class LastFew: Holding {
  private lazy var count = parameters[0, below: 4]
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    ready = (ready + [value]).suffix(count)
    return []
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = ending
    if ending != .finished { ready = [] }
    return deliver()
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return ending == nil ? [] : deliver()
  }
}

var collecting: [Definition] {
  [
    Definition(
      name: "collect(_:)", shape: Shape(values: 8), model: { ByCount($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().collect(1 + context.parameters[0, below: 4]).map { (values: [Int]) -> Int in digits(values) }
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "collect(_:every:)", shape: Shape(values: 8), model: { ByStep($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().collect(1 + parameters[0, below: 4], every: 1 + parameters[1, below: 4])
          .map { (values: [Int]) -> Int in digits(values) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "takeLast", model: { LastFew($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().takeLast(context.parameters[0, below: 4]).eraseToAnyPublisher()
      }),
  ]
}
