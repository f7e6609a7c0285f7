import FeedStream
import FeedStreamTesting

let filteringRows = rows {
  RuleRow(
    "Operators/Filtering/Filter", "filter(_:)", .passesStrays, expects: { .values($0.values.filter { $0 != 1 }) }
  ) {
    $0.filter { $0 != 1 }
  }
  RuleRow(
    "Operators/Filtering/Filter", "filter(_:) and again", .passesStrays,
    expects: { .values($0.values.filter { $0 == 0 || $0 > 2 }) }
  ) {
    $0.filter { $0 != 1 }.filter { $0 != 2 }
  }
  RuleRow(
    "Operators/Filtering/Filter", "tryFilter(_:)",
    expects: { .values($0.beforeTwo.filter { $0 != 1 }, then: $0.endingAtTwo) }
  ) {
    $0.tryFilter { try refusingTwo($0, $0 != 1) }
  }
  RuleRow(
    "Operators/Filtering/Distinct", "distinct()", expects: { .values($0.values.prefix(2).map { $0 % 2 }) }
  ) {
    $0.map { $0 % 2 }.distinct()
  }
  RuleRow("Operators/Filtering/Distinct", "distinct(by:)", expects: { .values($0.values.prefix(2)) }) {
    $0.distinct { $0 % 2 }
  }
  RuleRow(
    "Operators/Filtering/Drop", "dropFirst(_:)", .passesStrays, expects: { .values($0.values.dropFirst(2)) }
  ) {
    $0.dropFirst(2)
  }
  // As in Combine, the other publisher isn't cancelled after it has delivered.
  RuleRow(
    "Operators/Filtering/DropUntilOutput", "drop(untilOutputFrom:)",
    timed: [.dependsOnDemand, .spendsDemand],
    expects: { given in .values(given.isTimed ? given.values.filter { given.arrival($0) > 2.5 } : []) }
  ) {
    $0.drop(untilOutputFrom: other($1).first { $0 == 8 })
  }
  RuleRow(
    "Operators/Filtering/DropWhile", "drop(while:)", expects: { .values($0.values.filter { $0 > 1 }) }
  ) {
    $0.drop { $0 < 2 }
  }
  RuleRow(
    "Operators/Filtering/DropWhile", "tryDrop(while:)", expects: { .nothing(then: $0.endingAtTwo) }
  ) {
    $0.tryDrop { try refusingTwo($0, $0 < 3) }
  }
  RuleRow("Operators/Filtering/First", "first()", expects: { .first(1, of: $0.values) }) { $0.first() }
  RuleRow(
    "Operators/Filtering/First", "first(where:)", expects: { .first(1, of: $0.values.filter { $0 == 2 }) }
  ) {
    $0.first { $0 == 2 }
  }
  RuleRow(
    "Operators/Filtering/First", "tryFirst(where:)", expects: { .nothing(then: $0.endingAtTwo) }
  ) {
    $0.tryFirst { try refusingTwo($0, $0 == 3) }
  }
  RuleRow("Operators/Filtering/IgnoreOutput", "ignoreOutput()", .passesStrays, expects: { _ in .nothing() }) {
    $0.ignoreOutput()
  }
  RuleRow(
    "Operators/Filtering/IgnoreOutput", "setOutputType(to:)", .passesStrays, expects: { _ in .nothing() }
  ) {
    $0.ignoreOutput().setOutputType(to: Int.self)
  }
  RuleRow("Operators/Filtering/Last", "last()", expects: { .values($0.fails ? [] : $0.values.suffix(1)) }) { $0.last() }
  RuleRow(
    "Operators/Filtering/Last", "last(where:)",
    expects: { .values($0.fails ? [] : $0.values.filter { $0 < 2 }.suffix(1)) }
  ) {
    $0.last { $0 < 2 }
  }
  RuleRow(
    "Operators/Filtering/Last", "tryLast(where:)",
    expects: { .values($0.fails || $0.values.contains(2) ? [] : $0.values.suffix(1), then: $0.endingAtTwo) }
  ) {
    $0.tryLast { try refusingTwo($0, $0 < 3) }
  }
  RuleRow(
    "Operators/Filtering/Prefix", "prefix(_:), two", .passesStrays, expects: { .first(2, of: $0.values) }
  ) {
    $0.prefix(2)
  }
  RuleRow(
    "Operators/Filtering/Prefix", "prefix(_:), none", expects: { _ in .nothing(then: .finished) }
  ) {
    $0.prefix(0)
  }
  RuleRow(
    "Operators/Filtering/Prefix", "output(in:)", .passesStrays,
    expects: { .values($0.values.dropFirst().prefix(2), then: $0.values.count > 2 ? .finished : nil) }
  ) {
    $0.output(in: 1..<3)
  }
  RuleRow(
    "Operators/Filtering/Prefix", "output(at:)", .passesStrays, expects: { .first(1, of: $0.values.dropFirst(2)) }
  ) {
    $0.output(at: 2)
  }
  // Use first(), because the value that completes the stream doesn't cancel its own publisher.
  RuleRow(
    "Operators/Filtering/PrefixUntilOutput", "prefix(untilOutputFrom:)", timed: .dependsOnDemand,
    expects: { given in
      .values(given.values.filter { given.arrival($0) < 2.5 }, then: given.end > 2.5 ? .finished : nil)
    }
  ) {
    $0.prefix(untilOutputFrom: other($1).first { $0 == 8 })
  }
  RuleRow(
    "Operators/Filtering/PrefixWhile", "prefix(while:)",
    expects: { .values($0.beforeTwo, then: $0.values.contains(2) ? .finished : nil) }
  ) {
    $0.prefix { $0 < 2 }
  }
  RuleRow(
    "Operators/Filtering/PrefixWhile", "prefix(while:inclusive:)",
    expects: { .values($0.values.prefix(2), then: $0.values.contains(1) ? .finished : nil) }
  ) {
    $0.prefix(while: { $0 < 1 }, inclusive: true)
  }
  RuleRow(
    "Operators/Filtering/PrefixWhile", "tryPrefix(while:)",
    expects: { .values($0.beforeTwo, then: $0.endingAtTwo) }
  ) {
    $0.tryPrefix { try refusingTwo($0, $0 < 3) }
  }
  RuleRow(
    "Operators/Filtering/RemoveDuplicates", "removeDuplicates()",
    expects: { .values($0.uniqueHalves) }
  ) {
    $0.map { $0 / 2 }.removeDuplicates()
  }
  RuleRow(
    "Operators/Filtering/RemoveDuplicates", "removeDuplicates(by:)",
    expects: { .values($0.uniqueHalves) }
  ) {
    $0.removeDuplicates { $0 / 2 == $1 / 2 }.map { $0 / 2 }
  }
  RuleRow(
    "Operators/Filtering/RemoveDuplicates", "tryRemoveDuplicates(by:)",
    expects: { $0.values.first == 2 ? .values($0.values) : .values($0.beforeTwo, then: $0.endingAtTwo) }
  ) {
    $0.tryRemoveDuplicates { try refusingTwo($1, $0 == $1) }
  }
  RuleRow(
    "Operators/Filtering/ReplaceEmpty", "replaceEmpty(with:)",
    expects: { .values($0.values.isEmpty && !$0.fails ? [7] : $0.values) }
  ) {
    $0.replaceEmpty(with: 7)
  }
  RuleRow(
    "Operators/Filtering/TakeLast", "takeLast(_:)", expects: { .values($0.fails ? [] : $0.values.suffix(2)) }
  ) {
    $0.takeLast(2)
  }
}

extension Due {
  /// The first values, and the completion with the last of them.
  fileprivate static func first(_ count: Int, of values: some Collection<Output>) -> Due {
    .values(values.prefix(count), then: values.count >= count ? .finished : nil)
  }
}
