import FeedStream
import FeedStreamTesting

let reducingRows = rows {
  RuleRow(
    "Operators/Reducing/AllSatisfy", "allSatisfy(_:)",
    expects: { $0.values.contains(2) ? .values([false], then: .finished) : .values($0.whenFinished(true)) }
  ) {
    $0.allSatisfy { $0 < 2 }
  }
  RuleRow("Operators/Reducing/AllSatisfy", "tryAllSatisfy(_:)", expects: { .unlessTwo($0, true) }) {
    $0.tryAllSatisfy { try refusingTwo($0, true) }
  }
  RuleRow("Operators/Reducing/Collect", "collect()", expects: { .values($0.whenFinished($0.values)) }) { $0.collect() }
  RuleRow("Operators/Reducing/CollectByCount", "collect(_:)", .passesStrays, expects: { .values($0.pairs) }) {
    $0.collect(2)
  }
  RuleRow("Operators/Reducing/CollectByCount", "buffer(count:)", .passesStrays, expects: { .values($0.pairs) }) {
    $0.buffer(count: 2)
  }
  RuleRow(
    "Operators/Reducing/CollectByStep", "collect(_:every:), overlapping",
    expects: { .values($0.arrays(of: 2, every: 1)) }
  ) {
    $0.collect(2, every: 1)
  }
  RuleRow(
    "Operators/Reducing/CollectByStep", "collect(_:every:), with gaps", expects: { .values($0.arrays(of: 1, every: 2)) }
  ) {
    $0.collect(1, every: 2)
  }
  RuleRow(
    "Operators/Reducing/Comparison", "max()", expects: { .values($0.fails ? [] : $0.values.suffix(1)) }
  ) {
    $0.max()
  }
  RuleRow(
    "Operators/Reducing/Comparison", "max(by:)", expects: { .values($0.fails ? [] : $0.values.prefix(1)) }
  ) {
    $0.max { $0 > $1 }
  }
  RuleRow(
    "Operators/Reducing/Comparison", "min()", expects: { .values($0.fails ? [] : $0.values.prefix(1)) }
  ) {
    $0.min()
  }
  RuleRow(
    "Operators/Reducing/Comparison", "min(by:)", expects: { .values($0.fails ? [] : $0.values.suffix(1)) }
  ) {
    $0.min { $0 > $1 }
  }
  RuleRow("Operators/Reducing/Comparison", "tryMax(by:)", expects: { .compared($0, $0.values.last) }) {
    $0.tryMax { try refusingTwo(max($0, $1), $0 < $1) }
  }
  RuleRow("Operators/Reducing/Comparison", "tryMin(by:)", expects: { .compared($0, $0.values.first) }) {
    $0.tryMin { try refusingTwo(max($0, $1), $0 < $1) }
  }
  RuleRow(
    "Operators/Reducing/Contains", "contains(_:)",
    expects: { $0.values.contains(2) ? .values([true], then: .finished) : .values($0.whenFinished(false)) }
  ) {
    $0.contains(2)
  }
  RuleRow(
    "Operators/Reducing/Contains", "contains(where:)",
    expects: { $0.values.contains(2) ? .values([true], then: .finished) : .values($0.whenFinished(false)) }
  ) {
    $0.contains { $0 > 1 }
  }
  RuleRow("Operators/Reducing/Contains", "tryContains(where:)", expects: { .unlessTwo($0, false) }) {
    $0.tryContains { try refusingTwo($0, $0 == 3) }
  }
  RuleRow("Operators/Reducing/Count", "count()", expects: { .values($0.whenFinished($0.values.count)) }) { $0.count() }
  RuleRow(
    "Operators/Reducing/Reduce", "reduce(_:_:)", expects: { .values($0.whenFinished($0.values.reduce(0, +))) }
  ) {
    $0.reduce(0, +)
  }
  RuleRow(
    "Operators/Reducing/Reduce", "reduce(into:_:)", expects: { .values($0.whenFinished($0.values)) }
  ) {
    $0.reduce(into: []) { $0.append($1) }
  }
  RuleRow(
    "Operators/Reducing/Reduce", "tryReduce(_:_:)", expects: { .unlessTwo($0, $0.values.reduce(0, +)) }
  ) {
    $0.tryReduce(0) { try refusingTwo($1, $0 + $1) }
  }
  RuleRow(
    "Operators/Reducing/ReduceFromFirst", "reduce(_:)",
    expects: { .values($0.values.isEmpty ? [] : $0.whenFinished($0.values.reduce(0, +))) }
  ) {
    $0.reduce(+)
  }
  RuleRow(
    "Operators/Reducing/ReduceFromFirst", "tryReduce(_:)",
    expects: { .unlessTwo($0, $0.values.isEmpty ? nil : $0.values.reduce(0, +)) }
  ) {
    $0.tryReduce { try refusingTwo($1, $0 + $1) }
  }
}

extension Due {
  /// `result`, if there is one, when upstream finishes; a failure when it fails, or when `refusingTwo` has thrown.
  fileprivate static func unlessTwo(_ given: Given, _ result: Output?) -> Due {
    .values(
      given.values.contains(2) ? [] : result.map { given.whenFinished($0) } ?? [], then: given.endingAtTwo)
  }

  /// As `unlessTwo`, except that a single value is never compared.
  fileprivate static func compared(_ given: Given, _ result: Output?) -> Due {
    given.values.count < 2 || !given.values.contains(2)
      ? .values(given.fails ? [] : result.map { [$0] } ?? [])
      : .nothing(then: .fails)
  }
}
