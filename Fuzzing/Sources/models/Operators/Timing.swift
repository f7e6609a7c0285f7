import FeedStream
import FeedStreamTesting

/// Values and the completion some time later, in their order.
private final class Later: Model {
  private let span: Int
  private var waiting: [Int?] = []
  private var ending: Ending?
  init(_ parameters: Parameters, span: Int) {
    self.span = span
    super.init(parameters)
  }
  required init(_ parameters: Parameters) { fatalError("a delay has a span") }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    waiting.append(value)
    return [.wait(span, token: 0)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = ending
    waiting.append(nil)
    return [.wait(span, token: 0)]
  }
  override func due(_ token: Int) -> [Effect] {
    if let value = waiting.removeFirst() { [.emit(value)] } else { [.end(ending!)] }
  }
}

/// A value when nothing has followed it for some time.
private final class Debouncing: Model {
  private lazy var span = 5 + 20 * parameters[0, below: 3]
  private var waiting: Int?
  private var latest = 0
  private var demand = 0
  private var ending: Ending?
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    waiting = value
    latest += 1
    return [.wait(span, token: latest)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = ending
    waiting = nil
    return [.wait(0, token: -1)]
  }
  override func due(_ token: Int) -> [Effect] {
    if token == -1 { return [.end(ending!)] }
    guard token == latest, let value = waiting else { return [] }
    waiting = nil
    guard demand > 0 else { return [] }
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
}

/// Passes values until the time is up.
private final class Until: Model {
  private lazy var span = 20 * (1 + parameters[0, below: 4])
  override func began(_ source: Int) -> [Effect] { [.wait(span, token: 0), .handOut()] }
  override func due(_ token: Int) -> [Effect] { [.end(.finished)] }
}

/// Subscribes some time later.
private final class SubscribingLater: Model {
  private lazy var span = 20 * (1 + parameters[0, below: 4])
  private var demand = 0
  private var hasBegun = false
  override func subscribed(_ probe: Int) -> [Effect] { [.wait(span, token: 0), .handOut()] }
  override func due(_ token: Int) -> [Effect] { [.subscribe(0)] }
  override func began(_ source: Int) -> [Effect] {
    hasBegun = true
    return [.request(0, demand)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return hasBegun ? [.request(0, count)] : []
  }
}

/// `collect(.byTime)`: the values of a period, at its end, on demand.
private final class ByTime: Model {
  private lazy var period = 20 * (1 + parameters[0, below: 3])
  private var values: [Int] = []
  private var isDue = false
  private var demand = 0
  private var depth = 0
  private var ending: Ending?
  override func began(_ source: Int) -> [Effect] { [.wait(period, token: 0), .handOut(), .request(0, 1)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return deliver()
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    values.append(value)
    return [.request(0, 1)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    self.ending = ending
    if ending != .finished { values = [] }
    return [.wait(0, token: 1)]
  }
  override func due(_ token: Int) -> [Effect] {
    isDue = !values.isEmpty || token == 1
    return (token == 0 && ending == nil ? [.wait(period, token: 0)] : []) + deliver()
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    depth -= 1
    return deliver()
  }
  private func deliver() -> [Effect] {
    guard isDue, depth == 0 else { return [] }
    if values.isEmpty { return ending.map { [.end($0)] } ?? [] }
    guard demand > 0 else { return [] }
    if demand != .max { demand -= 1 }
    let row = digits(values)
    values = []
    isDue = ending != nil
    depth += 1
    return [.emit(row), .then(0)]
  }
}

var timing: [Definition] {
  [
    Definition(
      name: "delay", model: { Later($0, span: 5 + 20 * $0[0, below: 3]) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().delay(for: .milliseconds(5 + 20 * context.parameters[0, below: 3]), scheduler: context.time)
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "receive(on:)", model: { Later($0, span: 0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().receive(on: context.time).eraseToAnyPublisher()
      }),
    Definition(
      name: "debounce", model: { Debouncing($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().debounce(
          for: .milliseconds(5 + 20 * context.parameters[0, below: 3]), scheduler: context.time
        ).eraseToAnyPublisher()
      }),
    Definition(
      name: "prefix(for:)", model: { Until($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().prefix(for: .milliseconds(20 * (1 + context.parameters[0, below: 4])), scheduler: context.time)
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "delaySubscription", model: { SubscribingLater($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().delaySubscription(
          for: .milliseconds(20 * (1 + context.parameters[0, below: 4])), scheduler: context.time
        ).eraseToAnyPublisher()
      }),
    // No two values at one instant, and none within a delivery: it is unspecified whether a value that arrives with the
    // tick counts.
    Definition(
      name: "collect(.byTime)", model: { ByTime($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source()
          .collect(.byTime(context.time, .milliseconds(20 * (1 + context.parameters[0, below: 3]))))
          .map { (values: [Int]) -> Int in digits(values) }.eraseToAnyPublisher()
      }),
  ]
}
