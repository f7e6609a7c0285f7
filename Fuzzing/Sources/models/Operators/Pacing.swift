import FeedStream
import FeedStreamTesting

/// `throttle`: a value, and then the first or the latest of each interval.
private final class Throttling: Model {
  private lazy var span = 10 + 20 * parameters[0, below: 3]
  private lazy var keepsLatest = parameters[1, below: 2] == 1
  private var waiting: Int?
  private var demand = 0
  private var last: Int?
  private var ending: Ending?
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard ending == nil else { return [] }
    guard waiting == nil else {
      if keepsLatest { waiting = value }
      return []
    }
    guard demand > 0 else { return [] }
    if demand != .max { demand -= 1 }
    waiting = value
    return [.wait(max(0, (last.map { $0 + span } ?? now) - now), token: 0)]
  }
  // The completion is delivered with the waiting value.
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard self.ending == nil else { return [] }
    self.ending = ending
    return waiting == nil ? [.wait(0, token: 0)] : []
  }
  override func due(_ token: Int) -> [Effect] {
    var effects: [Effect] = []
    if let value = waiting {
      waiting = nil
      if ending == nil { last = now }
      effects = [.emit(value)]
    }
    return effects + (ending.map { [.end($0)] } ?? [])
  }
}

/// `timeout`: each value at the next opportunity; a completion after a silence, with or without a failure.
private final class TimingOut: Model {
  private lazy var span = 10 + 20 * parameters[0, below: 3]
  private lazy var fails = parameters[1, below: 2] == 1
  /// `nil` is the completion.
  private var waiting: [Int?] = []
  private var ending: Ending?
  private var hasAsked = false
  /// The latest beginning of a silence.
  private var silence = 1
  private func listen() -> [Effect] {
    silence += 1
    return [.wait(span, token: silence)]
  }
  override func began(_ source: Int) -> [Effect] { listen() + [.handOut()] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    defer { hasAsked = true }
    return (hasAsked || ending != nil ? [] : listen()) + [.request(0, count)]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard ending == nil else { return [] }
    waiting.append(value)
    return listen() + [.wait(0, token: 0)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard self.ending == nil else { return [] }
    self.ending = ending
    silence += 1
    waiting.append(nil)
    return [.wait(0, token: 0)]
  }
  override func due(_ token: Int) -> [Effect] {
    if token == 0 { return waiting.removeFirst().map { [.emit($0)] } ?? [.end(ending!)] }
    guard token == silence, ending == nil else { return [] }
    return [.end(fails ? .failed(8) : .finished)]
  }
}

/// `subscribe(on:)`: subscribing, requesting and cancelling happen at the next opportunity. Cancelling during a
/// value that is delivered within a request cancels immediately, and so does such a value after the cancellation.
private final class SubscribingOn: Model {
  private var asked: [Int] = []
  private var (isAsking, isCancelled) = (false, false)
  override var isShared: Bool { true }
  override func subscribed(_ probe: Int) -> [Effect] { [.wait(0, token: 0)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    asked.append(count)
    return [.wait(0, token: 1)]
  }
  // The demand that is returned for a value passes directly upstream.
  override func answered(_ count: Int, _ probe: Int) -> [Effect] { [.request(0, count)] }
  override func value(_ value: Int, _ source: Int) -> [Effect] { [.emit(value), .then(1)] }
  override func cancelled(_ probe: Int) -> [Effect] {
    isCancelled = true
    return [.wait(0, token: 2)]
  }
  override func due(_ token: Int) -> [Effect] {
    switch token {
    case 0: return [.subscribe(0)]
    case 1:
      isAsking = true
      return [.request(0, asked.removeFirst()), .then(0)]
    default: return [.stopAll]
    }
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if token == 1 { return isAsking && isCancelled ? [.stopAll] : [] }
    isAsking = false
    return []
  }
}

/// `sample`: the latest value at each trigger, once.
private final class Sampling: Model {
  private let period: Int?
  private var latest: Int?
  private var demand = 0
  /// - Parameter period: the time between triggers; without one, a second publisher triggers.
  init(_ parameters: Parameters, period: Int? = nil) {
    self.period = period
    super.init(parameters)
  }
  required init(_ parameters: Parameters) {
    period = nil
    super.init(parameters)
  }
  override func subscribed(_ probe: Int) -> [Effect] {
    [.subscribe(0)] + (period.map { [.wait($0, token: 0)] } ?? [.subscribe(1)])
  }
  override func began(_ source: Int) -> [Effect] {
    source == 0 ? [.handOut(), .request(0, .max)] : [.request(1, .max)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return []
  }
  private func sample() -> [Effect] {
    guard demand > 0, let value = latest else { return [] }
    latest = nil
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
  override func due(_ token: Int) -> [Effect] { [.wait(period!, token: 0)] + sample() }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard source == 0 else { return sample() }
    latest = value
    return []
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] { [.end(source == 0 ? ending : .finished)] }
}

/// `collect(.byTimeOrCount)`: full arrays, and the collected values at the end of a period. As many values are
/// requested from upstream as the requested arrays can hold.
private final class ByTimeOrCount: Model {
  private lazy var period = 20 * (1 + parameters[0, below: 3])
  private lazy var count = 1 + parameters[1, below: 3]
  private var values: [Int] = []
  /// Arrays that wait for their turn.
  private var ready: [Int] = []
  private var isDue = false
  private var demand = 0
  private var outstanding = 0
  private var isDelivering = false
  private var isClosed = false
  private var ending: Ending?
  override func subscribed(_ probe: Int) -> [Effect] { [.subscribe(0), .then(2)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    closeWhatIsDue()
    return serve()
  }
  override func answered(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    values.append(value)
    if outstanding != .max { outstanding -= 1 }
    guard values.count == count else { return [] }
    close()
    return [.wait(0, token: 1)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    isClosed = true
    self.ending = ending
    return [.wait(0, token: 2)]
  }
  override func due(_ token: Int) -> [Effect] {
    switch token {
    case 0:
      if isClosed { return [] }
      guard !values.isEmpty else { return [.wait(period, token: 0)] }
      isDue = true
      closeWhatIsDue()
      return [.wait(period, token: 0)] + serve()
    case 1: return serve()
    default:
      hasArrived = true
      if ending == .finished { isDue = true }
      return deliver()
    }
  }
  /// True when the completion's turn has come.
  private var hasArrived = false
  private func close() {
    ready.append(digits(values))
    values = []
    isDue = false
  }
  private func closeWhatIsDue() {
    if isDelivering, isDue, !values.isEmpty, demand > ready.count { close() }
  }
  private func serve() -> [Effect] { deliver() + [.then(1)] }
  private func deliver() -> [Effect] {
    if isDelivering { return [] }
    isDelivering = true
    return [.then(0)]
  }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if token == 2 { return isClosed ? [] : [.wait(period, token: 0)] }
    if token == 1 {
      let wanted = demand == .max ? .max : (demand - ready.count) * count - values.count
      guard !isClosed, outstanding != .max, wanted > outstanding else { return [] }
      let missing = wanted == .max ? .max : wanted - outstanding
      outstanding = wanted
      return [.request(0, missing)]
    }
    if demand > 0, ready.isEmpty, isDue, !values.isEmpty { close() }
    if demand > 0, !ready.isEmpty {
      if demand != .max { demand -= 1 }
      return [.emit(ready.removeFirst()), .then(0)]
    }
    isDelivering = false
    guard hasArrived, let ending else { return [] }
    return ending != .finished || (ready.isEmpty && values.isEmpty) ? [.end(ending)] : []
  }
}

/// `window(_:)`: the values of each window as one number, with everything requested. Windows that begin while a window
/// finishes are delivered after it.
private final class Windowing: Model {
  private let size: Int
  private var values: [Int] = []
  private var isHanding = false
  /// True when the open window waits to be delivered.
  private var isOpenWaiting = false
  /// Windows that were filled while they waited.
  private var full: [Int] = []
  /// The number of windows that are finishing, one within another: the stream finishes after them.
  private var depth = 0
  private var isFinishing = false
  private var ending: Ending?
  private var hasBegun = false
  required init(_ parameters: Parameters) {
    size = 1 + parameters[0, below: 3]
    super.init(parameters)
  }
  override func subscribed(_ probe: Int) -> [Effect] { [.subscribe(0)] }
  override func began(_ source: Int) -> [Effect] { [.handOut(), .then(0), .request(0, .max)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { [] }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    if token == 3 {
      depth -= 1
      return depth == 0 && isFinishing ? [.end(.finished)] : []
    }
    if token == 2 {
      if !full.isEmpty { return emit(full.removeFirst()) + [.then(2)] }
      isHanding = false
      isOpenWaiting = false
      return ending.map(end) ?? []
    }
    hasBegun = true
    return ending.map(end) ?? []
  }
  private func row() -> Int {
    defer { values = [] }
    return digits(values)
  }
  private func emit(_ row: Int) -> [Effect] {
    depth += 1
    return [.emit(row), .then(3)]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if ending != nil { return [] }
    values.append(value)
    if values.count == 1 { isOpenWaiting = isHanding }
    guard values.count == size else { return [] }
    if isOpenWaiting {
      full.append(row())
      return []
    }
    isHanding = true
    return emit(row()) + [.then(2)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard self.ending == nil else { return [] }
    self.ending = ending
    guard isHanding else { return hasBegun ? end(ending) : [] }
    if values.isEmpty || isOpenWaiting { return [] }
    return ending == .finished ? emit(row()) : [.end(ending)]
  }
  private func end(_ ending: Ending) -> [Effect] {
    guard ending == .finished else { return [.stopAll, .end(ending)] }
    isFinishing = true
    if !values.isEmpty { return [.stopAll] + emit(row()) }
    return [.stopAll] + (depth == 0 ? [.end(.finished)] : [])
  }
}

/// `window(on:)`: the values of each window as one number, with everything requested. A window that a trigger opens is
/// delivered after the previous one has finished; windows that end before that are delivered complete, one by one.
private final class WindowingOn: Model {
  private var values: [Int] = []
  /// True until the open window is delivered.
  private var isOpenWaiting = true
  /// Windows that ended before they were delivered.
  private var full: [Int] = []
  private var isHanding = false
  /// The number of windows that are finishing, one within another: the stream finishes after them.
  private var depth = 0
  private var isFinishing = false
  private var ending: Ending?
  private var hasBegun = false
  override func subscribed(_ probe: Int) -> [Effect] { [.subscribe(0), .then(1)] }
  override func began(_ source: Int) -> [Effect] {
    source == 0 ? [.handOut(), .then(0), .request(0, .max)] : [.request(source, .max)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { [] }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    switch token {
    case 0:
      hasBegun = true
      return handOver()
    case 2: return handOver()
    case 1: return ending == nil ? [.subscribe(1)] : []
    case 3:
      depth -= 1
      return depth == 0 && isFinishing ? [.end(.finished)] : []
    default:
      if !full.isEmpty { return emit(full.removeFirst()) + [.then(4)] }
      isOpenWaiting = false
      isHanding = false
      guard let ending else { return [] }
      guard ending == .finished else { return [.end(ending)] }
      isFinishing = true
      return depth == 0 ? [.end(.finished)] : []
    }
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard ending == nil else { return [] }
    guard source > 0 else {
      values.append(value)
      return []
    }
    return endWindow()
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard self.ending == nil else { return [] }
    self.ending = source == 0 ? ending : .finished
    if self.ending != .finished { return [.stopAll] + (isOpenWaiting ? handOver() : [.end(ending)]) }
    return [.stopAll] + endWindow()
  }
  /// Opens the next window, which waits, before the last one's values are delivered.
  private func endWindow() -> [Effect] {
    defer { values = [] }
    if isOpenWaiting {
      full.append(digits(values))
      return handOver()
    }
    isOpenWaiting = true
    return emit(digits(values)) + [.then(2)]
  }
  private func handOver() -> [Effect] {
    guard hasBegun, !isHanding, depth == 0 else { return [] }
    isHanding = true
    return [.then(4)]
  }
  private func emit(_ row: Int) -> [Effect] {
    depth += 1
    return [.emit(row), .then(3)]
  }
}

var pacing: [Definition] {
  let two = Shape(upstreams: 2, kinds: [.timed, .hot])
  return [
    Definition(
      name: "throttle", model: { Throttling($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().throttle(
          for: .milliseconds(10 + 20 * parameters[0, below: 3]), scheduler: context.time,
          latest: parameters[1, below: 2] == 1
        ).eraseToAnyPublisher()
      }),
    Definition(
      name: "timeout", model: { TimingOut($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        let makeError: (() -> TestError)? = parameters[1, below: 2] == 1 ? { TestError(code: 8) } : nil
        return context.source().timeout(
          .milliseconds(10 + 20 * parameters[0, below: 3]), scheduler: context.time, customError: makeError
        ).eraseToAnyPublisher()
      }),
    Definition(
      name: "subscribe(on:)", shape: Shape(cancelsLater: true), model: { SubscribingOn($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().subscribe(on: context.time).eraseToAnyPublisher()
      }),
    Definition(
      name: "sample(on:)", shape: two, model: { Sampling($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(0).sample(on: context.trigger(1)).eraseToAnyPublisher()
      }),
    Definition(
      name: "sample(every:)", model: { Sampling($0, period: 10 + 20 * $0[0, below: 3]) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().sample(
          every: .milliseconds(10 + 20 * context.parameters[0, below: 3]), scheduler: context.time
        ).eraseToAnyPublisher()
      }),
    Definition(
      name: "collect(.byTimeOrCount)", model: { ByTimeOrCount($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source()
          .collect(
            .byTimeOrCount(
              context.time, .milliseconds(20 * (1 + parameters[0, below: 3])), 1 + parameters[1, below: 3])
          ).map { (values: [Int]) -> Int in digits(values) }.eraseToAnyPublisher()
      }),
    // Everything is requested: the values of a window are collected regardless of demand.
    Definition(
      name: "window(on:)", shape: Shape(upstreams: 2, kinds: [.timed, .hot], isUnlimited: true),
      model: { WindowingOn($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(0).window(on: context.trigger(1)).flatMap {
          (window: AnyPublisher<Int, TestError>) in window.collect()
        }.map { (values: [Int]) -> Int in digits(values) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "window(_:)", shape: Shape(isUnlimited: true), model: { Windowing($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(0).window(1 + context.parameters[0, below: 3]).flatMap {
          (window: AnyPublisher<Int, TestError>) in window.collect()
        }.map { (values: [Int]) -> Int in digits(values) }.eraseToAnyPublisher()
      }),
  ]
}
