import FeedStream
import FeedStreamTesting

/// The operators that hold values, or run one publisher after another.
let queueingRows = rows {
  // Upstream gets a request before the subscriber can make one, so there must be room for values that a source delivers
  // immediately.
  RuleRow(
    "Operators/Backpressure/Buffer", "buffer(size:prefetch:whenFull:), dropOldest", [.dropsUnasked, .failsAtOnce],
    expects: { .values($0.values.suffix($0.isTimed ? 4 : 2)) }
  ) {
    $0.buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)
  }
  RuleRow(
    "Operators/Backpressure/Buffer", "buffer(size:prefetch:whenFull:), dropNewest", [.dropsUnasked, .failsAtOnce],
    expects: { .values($0.values.prefix($0.isTimed ? 4 : 2)) }
  ) {
    $0.buffer(size: 2, prefetch: .byRequest, whenFull: .dropNewest)
  }
  RuleRow(
    "Operators/Backpressure/Buffer", "buffer(size:prefetch:whenFull:), customError", .dependsOnDemand,
    expects: { $0.isTimed || $0.values.count < 3 ? .values($0.values) : .values([0, 1], then: .fails) }
  ) {
    $0.buffer(size: 2, prefetch: .byRequest, whenFull: .customError { MarbleFailure() })
  }
  RuleRow(
    "Operators/Backpressure/Buffer", "buffer(size:prefetch:whenFull:), everything", .failsAtOnce,
    expects: { .values($0.values) }
  ) {
    $0.buffer(size: 4, prefetch: .byRequest, whenFull: .dropNewest)
  }
  RuleRow(
    "Operators/Backpressure/Buffer", "buffer(size:prefetch:whenFull:), keepFull", .failsAtOnce,
    expects: { .values($0.values) }
  ) {
    $0.buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest)
  }
  RuleRow(
    "Operators/Backpressure/Buffer", "buffer(size:prefetch:whenFull:), keepFull with one", .failsAtOnce,
    expects: { .values($0.values) }
  ) {
    $0.buffer(size: 1, prefetch: .keepFull, whenFull: .dropNewest)
  }
  RuleRow(
    "Operators/Backpressure/OnBackpressure", "onBackpressureDrop(_:)", [.dropsUnasked, .failsAtOnce],
    expects: { .values($0.values) }
  ) {
    $0.onBackpressureDrop()
  }
  RuleRow(
    "Operators/Backpressure/OnBackpressure", "onBackpressureLatest(_:)", [.dropsUnasked, .failsAtOnce],
    expects: { .values($0.values) }
  ) {
    $0.onBackpressureLatest()
  }
  RuleRow(
    "Operators/Backpressure/OnBackpressure", "onBackpressureError(_:)", .dependsOnDemand,
    expects: { .values($0.values) }
  ) {
    $0.onBackpressureError { _ in MarbleFailure() }
  }
  RuleRow(
    "Operators/Combining/Concatenate", "append(_:)", expects: { .values($0.values + ($0.fails ? [] : [7, 8])) }
  ) {
    $0.append(7, 8)
  }
  RuleRow(
    "Operators/Combining/Concatenate", "append(_:) of a publisher", timed: [],
    expects: { .values($0.values + ($0.fails ? [] : others)) }
  ) {
    $0.append(other($1))
  }
  RuleRow("Operators/Combining/Concatenate", "prepend(_:)", expects: { .values([7, 8] + $0.values) }) {
    $0.prepend(7, 8)
  }
  RuleRow(
    "Operators/Combining/Concatenate", "prepend(_:) of a publisher", timed: [], expects: { .values(others + $0.values) }
  ) {
    $0.prepend(other($1))
  }
  RuleRow(
    "Operators/Errors/Repeat", "repeat(_:)", expects: { .values($0.values + ($0.fails ? [] : $0.values(of: 1))) }
  ) {
    $0.repeat(2)
  }
  RuleRow(
    "Operators/Errors/Repeat", "repeat(_:after:scheduler:options:)", timed: [],
    expects: { .values($0.values + ($0.fails ? [] : $0.values(of: 1))) }
  ) {
    $0.repeat(2, after: .milliseconds(2), scheduler: $1)
  }
  RuleRow(
    "Operators/Combining/SwitchIfEmpty", "switchIfEmpty(_:)", timed: [],
    expects: { .values($0.values.isEmpty && !$0.fails ? others : $0.values) }
  ) {
    $0.switchIfEmpty(other($1))
  }
}

let errorRows = rows {
  RuleRow(
    "Operators/Errors/AssertNoFailure", "assertNoFailure(_:file:line:)", .passesStrays,
    expects: { .values($0.replaced, then: .finished) }
  ) {
    $0.replaceError(with: 9).assertNoFailure()
  }
  RuleRow(
    "Operators/Errors/Catch", "catch(_:)", timed: .passesStrays,
    expects: { .values($0.values + ($0.fails ? others : []), then: .finished) }
  ) { upstream, time in
    upstream.catch { _ in other(time) }
  }
  RuleRow("Operators/Errors/Catch", "tryCatch(_:)", .passesStrays, expects: { .values($0.values) }) {
    $0.tryCatch { _ -> Upstream in throw Refusal() }
  }
  RuleRow("Operators/Errors/MapError", "mapError(_:)", .passesStrays, expects: { .values($0.values) }) {
    $0.mapError { _ in Refusal() }
  }
  RuleRow("Operators/Errors/MapError", "eraseFailureType()", .passesStrays, expects: { .values($0.values) }) {
    $0.eraseFailureType()
  }
  RuleRow(
    "Operators/Errors/ReplaceError", "replaceError(with:)", expects: { .values($0.replaced, then: .finished) }
  ) {
    $0.replaceError(with: 9)
  }
  RuleRow("Operators/Errors/Retry", "retry(_:)", expects: { .again($0) }) { $0.retry(2) }
  RuleRow("Operators/Errors/RetryByPolicy", "retry(_:scheduler:options:using:if:)", timed: [], expects: { .again($0) })
  {
    $0.retry(
      RetryPolicy(limit: 2, firstPause: .milliseconds(5), factor: 2, cap: .seconds(1), jitter: 0), scheduler: $1)
  }
  RuleRow("Operators/Errors/RetryWhen", "retry(when:)", expects: { .again($0, then: .finished) }) { upstream in
    upstream.retry { failures in failures.enumerated().prefix { $0.offset < 2 } }
  }
  // The signal completes with its second value. A source that delivers within its subscription delivers once more,
  // whatever the demand.
  RuleRow(
    "Operators/Errors/RetryWhen", "retry(when:), the last value of the signal", .dependsOnDemand,
    expects: { given in
      let runs = given.fails ? (given.isTimed ? 2 : 3) : 1
      return .values((0..<runs).flatMap { given.values(of: $0) }, then: .finished)
    }
  ) { upstream in
    upstream.retry { failures in failures.prefix(2) }
  }
  RuleRow(
    "Operators/Errors/SetFailureType", "setFailureType(to:)", .passesStrays,
    expects: { .values($0.replaced, then: .finished) }
  ) {
    $0.replaceError(with: 9).setFailureType(to: MarbleFailure.self)
  }
}

extension Due<Int> {
  /// The values, three times if upstream fails each time.
  fileprivate static func again(_ given: Given, then ending: Given.Ending? = nil) -> Due {
    .values((0..<(given.fails ? 3 : 1)).flatMap { given.values(of: $0) }, then: ending)
  }
}
