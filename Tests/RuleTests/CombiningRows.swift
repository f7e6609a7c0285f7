import FeedStream
import FeedStreamTesting

let combiningRows = rows {
  RuleRow(
    "Operators/Combining/CombineLatest", "combineLatest(_:)", timed: .dependsOnDemand, expects: { .latest($0) { $0 } }
  ) {
    $0.combineLatest(other($1))
  }
  RuleRow(
    "Operators/Combining/CombineLatest", "combineLatest(_:_:)", timed: .dependsOnDemand,
    expects: { .latest($0) { ($0.0, $0.1, 5) } }
  ) {
    $0.combineLatest(other($1), constant(5))
  }
  RuleRow(
    "Operators/Combining/CombineLatest", "combineLatest(_:_:_:)", timed: .dependsOnDemand,
    expects: { .latest($0) { ($0.0, $0.1, 5, 6) } }
  ) {
    $0.combineLatest(other($1), constant(5), constant(6))
  }
  RuleRow(
    "Operators/Combining/CombineLatest", "combineLatest(_:_:_:_:) of four, transformed", timed: .dependsOnDemand,
    expects: { .latest($0) { $0.0 * 10 + $0.1 + 11 } }
  ) { upstream, time in
    upstream.combineLatest(other(time), constant(5), constant(6)) { $0 * 10 + $1 + $2 + $3 }
  }
  RuleRow(
    "Operators/Combining/CombineLatestAll", "combineLatest(_:) of any arity", timed: .dependsOnDemand,
    expects: { .latest($0) { ($0.0, $0.1, 5, 6, 7) } }
  ) { upstream, time in
    combineLatest(upstream, other(time), constant(5), constant(6), constant(7))
  }
  RuleRow(
    "Operators/Combining/CombineLatestMany", "combineLatest() of a collection", timed: .dependsOnDemand,
    expects: { .latest($0) { [$0.0, $0.1] } }
  ) { upstream, time in
    [upstream, other(time).eraseToAnyPublisher()].combineLatest()
  }
  RuleRow(
    "Operators/Combining/WithLatestFrom", "withLatestFrom(_:)", timed: .dependsOnDemand,
    expects: { .values($0.withLatestOfOther) }
  ) {
    $0.withLatestFrom(other($1))
  }
  RuleRow(
    "Operators/Combining/WithLatestFrom", "withLatestFrom(_:_:)", timed: .dependsOnDemand,
    expects: { .values($0.withLatestOfOther.map { $0.0 * 10 + $0.1 }) }
  ) {
    $0.withLatestFrom(other($1)) { $0 * 10 + $1 }
  }
  RuleRow("Operators/Combining/Zip", "zip(_:)", timed: .failsAtOnce, expects: { .zipped($0) { ($0, $1) } }) {
    $0.zip(other($1))
  }
  RuleRow("Operators/Combining/Zip", "zip(_:_:)", timed: .failsAtOnce, expects: { .zipped($0) { ($0, $1, $0) } }) {
    $0.zip(other($1), $0)
  }
  RuleRow(
    "Operators/Combining/Zip", "zip(_:_:_:)", timed: .failsAtOnce, expects: { .zipped($0) { ($0, $1, $0, $1) } }
  ) {
    $0.zip(other($1), $0, other($1))
  }
  RuleRow(
    "Operators/Combining/Zip", "zip(_:_:_:_:) of four, transformed", timed: .failsAtOnce,
    expects: { .zipped($0) { $0 * 2 + $1 * 2 } }
  ) { upstream, time in
    upstream.zip(other(time), upstream, other(time)) { $0 + $1 + $2 + $3 }
  }
  RuleRow(
    "Operators/Combining/ZipAll", "zip(_:) of any arity", timed: .failsAtOnce,
    expects: { .zipped($0) { ($0, $1, $0, $1, $0) } }
  ) { upstream, time in
    zip(upstream, other(time), upstream, other(time), upstream)
  }
  RuleRow(
    "Operators/Combining/ZipMany", "zip() of a collection", timed: .failsAtOnce,
    expects: { .zipped($0) { [$0, $1] } }
  ) { upstream, time in
    [upstream, other(time).eraseToAnyPublisher()].zip()
  }
  RuleRow(
    "Operators/Combining/Race", "race(with:)", timed: .dependsOnDemand,
    expects: { $0.isTimed && !$0.offered.isEmpty ? .values(others, then: .finished) : .values($0.values) }
  ) {
    $0.race(with: other($1))
  }
  RuleRow(
    "Operators/Combining/Race", "race() of a collection", timed: .dependsOnDemand, expects: { .values($0.values) }
  ) { upstream, time in
    [upstream, time.cold("9ms 7|").eraseToAnyPublisher()].race()
  }
}

extension Due {
  /// The values of `combineLatest(other)`. It completes when one side finishes without a value.
  fileprivate static func latest(_ given: Given, _ transform: ((Int, Int)) -> Output) -> Due {
    .values(given.latestOfBoth.map(transform))
  }

  /// The values of `zip(other)`.
  fileprivate static func zipped(_ given: Given, _ transform: (Int, Int) -> Output) -> Due {
    .values(zip(given.values, others).map(transform), then: given.endingOfZip)
  }
}
