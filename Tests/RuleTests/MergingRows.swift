import FeedStream
import FeedStreamTesting

let mergingRows = rows {
  RuleRow("Operators/Combining/Merge", "merge(with:)", timed: [], expects: { .merged($0) }) {
    $0.merge(with: other($1))
  }
  RuleRow("Operators/Combining/MergeByArity", "merge(with:_:)", timed: [], expects: { .merged($0, 1) }) {
    $0.merge(with: other($1), constant(1))
  }
  RuleRow("Operators/Combining/MergeByArity", "merge(with:_:_:)", timed: [], expects: { .merged($0, 1, 2) }) {
    $0.merge(with: other($1), constant(1), constant(2))
  }
  RuleRow("Operators/Combining/MergeByArity", "merge(with:_:_:_:)", timed: [], expects: { .merged($0, 1, 2, 3) }) {
    $0.merge(with: other($1), constant(1), constant(2), constant(3))
  }
  RuleRow("Operators/Combining/MergeByArity", "merge(with:_:_:_:_:)", timed: [], expects: { .merged($0, 1, 2, 3, 4) }) {
    $0.merge(with: other($1), constant(1), constant(2), constant(3), constant(4))
  }
  RuleRow(
    "Operators/Combining/MergeByArity", "merge(with:_:_:_:_:_:)", timed: [], expects: { .merged($0, 1, 2, 3, 4, 5) }
  ) {
    $0.merge(with: other($1), constant(1), constant(2), constant(3), constant(4), constant(5))
  }
  RuleRow(
    "Operators/Combining/MergeByArity", "merge(with:_:_:_:_:_:_:)", timed: [],
    expects: { .merged($0, 1, 2, 3, 4, 5, 6) }
  ) {
    $0.merge(with: other($1), constant(1), constant(2), constant(3), constant(4), constant(5), constant(6))
  }
  RuleRow("Operators/Combining/MergeByArity", "merge(_:) of any arity", timed: [], expects: { .merged($0, 1) }) {
    upstream, time in merge(upstream, other(time), constant(1))
  }
  RuleRow("Operators/Combining/Merge", "merge() of a collection", timed: [], expects: { .merged($0) }) {
    upstream, time in [upstream, other(time).eraseToAnyPublisher()].merge()
  }
  RuleRow(
    "Operators/Combining/Merge", "MergeMany of the same", timed: [],
    expects: { .interleaved([$0.values, $0.values(of: 1), others]) }
  ) {
    Publishers.MergeMany($0, $0, other($1).eraseToAnyPublisher())
  }
  RuleRow(
    "Operators/Flattening/FlatMap", "flatMap(maxPublishers:_:), all at once",
    expects: { .interleaved($0.values.map { [$0, $0 + 10, $0 + 20] }) }
  ) {
    $0.flatMap { value in [value, value + 10, value + 20].publisher.setFailureType(to: MarbleFailure.self) }
  }
  RuleRow(
    "Operators/Flattening/FlatMap", "flatMap(maxPublishers:_:), of one value each", .failsAtOnce,
    expects: { .values($0.values.map { $0 + 1 }) }
  ) {
    $0.flatMap { value in Just(value + 1) }
  }
  RuleRow(
    "Operators/Flattening/FlatMap", "flatMap(maxPublishers:_:), over time", timed: [],
    expects: { .interleaved($0.values.map { value in others.map { $0 + value * 10 } }) }
  ) { upstream, time in
    upstream.flatMap { value in other(time).map { $0 + value * 10 } }
  }
  RuleRow(
    "Operators/Flattening/FlatMap", "flatMap(maxPublishers:_:), one after the other", timed: .failsAtOnce,
    expects: { .oneByOne($0) }
  ) { upstream, time in
    upstream.flatMap(maxPublishers: .max(1)) { value in other(time).map { $0 + value * 10 } }
  }
  RuleRow("Operators/Flattening/ConcatMap", "concatMap(_:)", timed: .failsAtOnce, expects: { .oneByOne($0) }) {
    upstream, time in upstream.concatMap { value in other(time).map { $0 + value * 10 } }
  }
  RuleRow(
    "Operators/Flattening/FlatMapFirst", "flatMapFirst(_:)", timed: .failsAtOnce,
    expects: { .values($0.values.prefix(1).flatMap { _ in others }) }
  ) { upstream, time in
    upstream.flatMapFirst { _ in other(time) }
  }
  RuleRow(
    "Operators/Flattening/SwitchToLatest", "switchToLatest()", timed: .dependsOnDemand, expects: { .newest($0) }
  ) { upstream, time in
    upstream.map { _ in other(time) }.switchToLatest()
  }
  RuleRow(
    "Operators/Flattening/SwitchToLatest", "flatMapLatest(_:)", timed: .dependsOnDemand, expects: { .newest($0) }
  ) { upstream, time in
    upstream.flatMapLatest { _ in other(time) }
  }
  RuleRow("Operators/Flattening/Expand", "expand(_:)", expects: { .values($0.expanded) }) { upstream in
    upstream.expand { value in value > 3 ? Upstream(Empty()) : constant(value + 3) }
  }
  RuleRow(
    "Operators/Flattening/GroupBy", "groupBy(_:), the values",
    expects: { given in .interleaved([0, 1].map { parity in given.values.filter { $0 % 2 == parity } }) }
  ) { upstream in
    upstream.groupBy { $0 % 2 }.flatMap { $0 }
  }
  RuleRow(
    "Operators/Flattening/GroupBy", "groupBy(_:), the keys", .failsAtOnce,
    expects: { .values([0, 1].prefix($0.values.count)) }
  ) { upstream in
    upstream.groupBy { $0 % 2 }.map(\.key)
  }
}

extension Due<Int> {
  /// Upstream's values, `other`'s and constants.
  fileprivate static func merged(_ given: Given, _ constants: Int...) -> Due {
    .interleaved([given.values, others] + constants.map { [$0] })
  }

  /// The values when each value is mapped to `other`, one publisher after another.
  fileprivate static func oneByOne(_ given: Given) -> Due {
    .values(given.values.flatMap { value in others.map { $0 + value * 10 } })
  }

  /// The values that each `other` delivers before the next value arrives, a millisecond later; a failure arrives then,
  /// too.
  fileprivate static func newest(_ given: Given) -> Due {
    let early = given.isTimed ? given.values.map { _ in 7 } : []
    return .values(given.fails ? early : early.dropLast() + (given.values.isEmpty ? [] : others))
  }
}
