import FeedStream
import FeedStreamTesting

private let late: StreamInstant.Stride = .milliseconds(2)
/// Not a multiple of a millisecond, so that no timer coincides with a value.
private let stretch: StreamInstant.Stride = .microseconds(2600)
private let patience: StreamInstant.Stride = .milliseconds(20)

let timingRows = rows {
  RuleRow(
    "Operators/Timing/CollectByTime", "collect(_:options:) byTime", timed: .dependsOnDemand, expects: { .collected($0) }
  ) {
    $0.collect(.byTime($1, stretch))
  }
  RuleRow(
    "Operators/Timing/CollectByTime", "buffer(for:scheduler:options:)", timed: .dependsOnDemand,
    expects: { .collected($0) }
  ) {
    $0.buffer(for: stretch, scheduler: $1)
  }
  RuleRow(
    "Operators/Timing/CollectByTime", "collect(_:options:) byTimeOrCount", timed: .dependsOnDemand,
    expects: { .values($0.pairs) }
  ) {
    $0.collect(.byTimeOrCount($1, stretch, 2))
  }
  RuleRow("Operators/Timing/CollectOn", "buffer(on:)", timed: .dependsOnDemand, expects: { .collected($0) }) {
    $0.buffer(on: Interval(every: stretch, scheduler: $1))
  }
  RuleRow(
    "Operators/Timing/Debounce", "debounce(for:scheduler:options:)", timed: .dropsUnasked,
    expects: { .values($0.isTimed ? $0.values : []) }
  ) {
    $0.debounce(for: .microseconds(500), scheduler: $1)
  }
  RuleRow(
    "Operators/Timing/Delay", "delay(for:tolerance:scheduler:options:)", timed: [],
    expects: { .values($0.values) }
  ) {
    $0.delay(for: late, scheduler: $1)
  }
  RuleRow(
    "Operators/Timing/DelaySubscription", "delaySubscription(for:scheduler:options:)", timed: [],
    expects: { .values($0.values) }
  ) {
    $0.delaySubscription(for: late, scheduler: $1)
  }
  RuleRow(
    "Operators/Timing/PrefixFor", "prefix(for:scheduler:options:)", timed: .dependsOnDemand,
    expects: { given in
      .values(given.values.filter { given.arrival($0) < 2.6 }, then: given.end > 2.6 ? .finished : nil)
    }
  ) {
    $0.prefix(for: stretch, scheduler: $1)
  }
  RuleRow(
    "Operators/Timing/ReceiveOn", "receive(on:options:)", timed: [], expects: { .values($0.values) }
  ) {
    $0.receive(on: $1)
  }
  RuleRow("Operators/Timing/Sample", "sample(on:)", timed: .dependsOnDemand, expects: { .sampled($0) }) {
    $0.sample(on: Interval(every: stretch, scheduler: $1))
  }
  RuleRow(
    "Operators/Timing/Sample", "sample(every:scheduler:options:)", timed: .dependsOnDemand, expects: { .sampled($0) }
  ) {
    $0.sample(every: stretch, scheduler: $1)
  }
  RuleRow(
    "Operators/Timing/SubscribeOn", "subscribe(on:options:)", timed: [], expects: { .values($0.values) }
  ) {
    $0.subscribe(on: $1)
  }
  // The first value at 1 ms, then no sooner than at 3.6 ms and 6.2 ms.
  RuleRow(
    "Operators/Timing/Throttle", "throttle(for:scheduler:latest:), the latest", timed: .dependsOnDemand,
    expects: {
      .values($0.isTimed ? [[], [0], [0, 1], [0, 2], [0, 2, 3]][$0.offered.count] : $0.values.suffix(1))
    }
  ) {
    $0.throttle(for: stretch, scheduler: $1, latest: true)
  }
  RuleRow(
    "Operators/Timing/Throttle", "throttle(for:scheduler:latest:), the first", timed: .dependsOnDemand,
    expects: {
      .values($0.isTimed ? [[], [0], [0, 1], [0, 1], [0, 1, 3]][$0.offered.count] : $0.values.prefix(1))
    }
  ) {
    $0.throttle(for: stretch, scheduler: $1, latest: false)
  }
  RuleRow(
    "Operators/Timing/Timeout", "timeout(_:scheduler:options:customError:)", timed: .dependsOnDemand,
    expects: { .values($0.values) }
  ) {
    $0.timeout(patience, scheduler: $1, customError: { MarbleFailure() })
  }
  RuleRow(
    "Operators/Timing/Timeout", "timeout(_:scheduler:options:file:line:customError:)",
    timed: .dependsOnDemand, expects: { .values($0.values) }
  ) {
    $0.timeout(patience, scheduler: $1) { (_: TimedOut) in MarbleFailure() }
  }
  RuleRow(
    "Operators/Timing/TimeoutFallback", "timeout(_:scheduler:options:fallback:)",
    timed: .dependsOnDemand, expects: { .values($0.values) }
  ) {
    $0.timeout(patience, scheduler: $1, fallback: Fail(error: MarbleFailure()))
  }
  RuleRow("Operators/Timing/Window", "window(_:)", .failsAtOnce, expects: { .values($0.pairs) }) {
    $0.window(2).flatMap { $0.collect() }
  }
  RuleRow(
    "Operators/Timing/Window", "window(_:), its values", expects: { .interleaved($0.windows) }
  ) {
    $0.window(2).flatMap { $0 }
  }
  RuleRow(
    "Operators/Timing/Window", "window(on:)", timed: [.dependsOnDemand, .failsAtOnce],
    expects: { .values($0.stretches(2.6)) }
  ) {
    $0.window(on: Interval(every: stretch, scheduler: $1)).flatMap { $0.collect() }
  }
  RuleRow(
    "Operators/Timing/Window", "window(for:scheduler:options:)", timed: [.dependsOnDemand, .failsAtOnce],
    expects: { .values($0.stretches(2.6)) }
  ) {
    $0.window(for: stretch, scheduler: $1).flatMap { $0.collect() }
  }
}

extension Due<[Int]> {
  /// The values that arrived in each stretch, if any did.
  fileprivate static func collected(_ given: Given) -> Due {
    .values(given.stretches(2.6).filter { !$0.isEmpty })
  }
}

extension Due<Int> {
  /// The last value of each stretch that ended before the completion.
  fileprivate static func sampled(_ given: Given) -> Due {
    .values((given.fails ? given.stretches(2.6) : given.stretches(2.6).dropLast()).compactMap(\.last))
  }
}
