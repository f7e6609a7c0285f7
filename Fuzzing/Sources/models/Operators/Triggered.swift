import FeedStream
import FeedStreamTesting

extension Context {
  /// A publisher of the case that cannot fail: a failure finishes it.
  func trigger(_ spec: Int) -> some Publisher<Int, Never> {
    source(spec).catch { (_: TestError) -> Empty<Int, Never> in Empty() }
  }
}

/// `buffer(on:)`: the values since the last trigger, on demand.
private final class Buffering: Model {
  private var values: [Int] = []
  /// Arrays that were requested when a trigger within a delivery closed them.
  private var ready: [Int] = []
  private var isDue = false
  private var demand = 0
  private var isDelivering = false
  private var ending: Ending?
  override func subscribed(_ probe: Int) -> [Effect] { [.subscribe(0)] }
  override func began(_ source: Int) -> [Effect] {
    source == 0 ? [.handOut(), .request(0, .max), .subscribe(1)] : [.request(1, .max)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return deliver()
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard ending == nil else { return [] }
    if source == 0 {
      values.append(value)
      return []
    }
    guard !values.isEmpty else { return [] }
    isDue = true
    return deliver()
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard self.ending == nil else { return [] }
    self.ending = source == 1 ? .finished : ending
    if self.ending != .finished { values = [] }
    isDue = true
    return [.stopAll] + deliver()
  }
  private func deliver() -> [Effect] {
    if isDelivering {
      if isDue, !values.isEmpty, demand > ready.count {
        ready.append(digits(values))
        values = []
        isDue = ending != nil
      }
      return []
    }
    isDelivering = true
    return [.then(0)]
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if ready.isEmpty, isDue, !values.isEmpty, demand > 0 {
      ready = [digits(values)]
      values = []
      isDue = ending != nil
    }
    if !ready.isEmpty {
      if demand != .max { demand -= 1 }
      return [.emit(ready.removeFirst()), .then(0)]
    }
    isDelivering = false
    return values.isEmpty ? ending.map { [.end($0)] } ?? [] : []
  }
}

/// Each value with the newest of another publisher.
private final class WithLatest: Model {
  private var latest: Int?
  override func subscribed(_ probe: Int) -> [Effect] { [.subscribe(0), .then(0)] }
  // The other publisher is subscribed first; here it is the first of the case.
  override func began(_ source: Int) -> [Effect] { source == 0 ? [.request(0, .max)] : [.handOut()] }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] { [.subscribe(1)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { [.request(1, count)] }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if source == 0 {
      latest = value
      return []
    }
    return latest.map { [.emit(digits([value, $0]))] } ?? [.request(1, 1)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    source == 0 && ending == .finished && latest != nil ? [] : [.end(ending)]
  }
}

/// `prefix(untilOutputFrom:)`; the trigger's completion has no effect, and its value does not cancel it.
private final class UntilOutput: Model {
  private var isOver = false
  override var isShared: Bool { true }
  override func subscribed(_ probe: Int) -> [Effect] { [.subscribe(0), .subscribe(1)] }
  override func began(_ source: Int) -> [Effect] { source == 0 ? [.request(0, 1)] : [.handOut()] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { isOver ? [] : [.request(1, count)] }
  override func cancelled(_ probe: Int) -> [Effect] {
    isOver = true
    return [.stopAll]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if isOver { return [] }
    if source == 1 { return [.emit(value)] }
    isOver = true
    return [.stop(1), .end(.finished)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    if isOver || source == 0 { return [] }
    isOver = true
    return [.stopAll, .end(ending)]
  }
}

var triggered: [Definition] {
  [
    Definition(
      name: "buffer(on:)", shape: Shape(upstreams: 2, kinds: [.timed, .hot], reactsInBursts: true),
      model: { Buffering($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).buffer(on: context.trigger(1)).map { (values: [Int]) -> Int in digits(values) }
          .eraseToAnyPublisher()
      }),
    // Only hot and timed publishers, because the order of two that deliver within the subscription is not documented.
    Definition(
      name: "withLatestFrom", shape: Shape(upstreams: 2, kinds: [.timed, .hot]), model: { WithLatest($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(1).withLatestFrom(context.source(0)).map { (pair: (Int, Int)) -> Int in digits([pair.0, pair.1])
        }
        .eraseToAnyPublisher()
      }),
    Definition(
      name: "prefix(untilOutputFrom:)", shape: Shape(upstreams: 2, kinds: [.timed, .hot]), model: { UntilOutput($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(1).prefix(untilOutputFrom: context.source(0)).eraseToAnyPublisher()
      }),
  ]
}
