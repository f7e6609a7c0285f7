import FeedStream
import FeedStreamTesting
import Foundation

let transformingRows = rows {
  RuleRow("Operators/Transforming/Map", "map(_:)", .passesStrays, expects: { .values($0.values.map { $0 * 2 }) }) {
    $0.map { $0 * 2 }
  }
  RuleRow(
    "Operators/Transforming/Map", "map(_:) and again", .passesStrays, expects: { .values($0.values.map { $0 * 2 + 1 }) }
  ) {
    $0.map { $0 * 2 }.map { $0 + 1 }
  }
  RuleRow(
    "Operators/Transforming/Map", "tryMap(_:)", .passesStrays, expects: { .values($0.beforeTwo, then: $0.endingAtTwo) }
  ) {
    $0.tryMap { try refusingTwo($0, $0) }
  }
  RuleRow(
    "Operators/Transforming/Map", "replaceNil(with:)", .passesStrays,
    expects: { .values($0.values.map { $0 == 1 ? 9 : $0 }) }
  ) {
    $0.map { $0 == 1 ? nil : $0 }.replaceNil(with: 9)
  }
  RuleRow(
    "Operators/Transforming/MapKeyPath", "map(_:) of a key path", .passesStrays,
    expects: { .values($0.values.map(\.byteSwapped)) }
  ) {
    $0.map(\.byteSwapped)
  }
  RuleRow(
    "Operators/Transforming/MapKeyPath", "map(_:_:) of key paths", .passesStrays,
    expects: { .values($0.values.map { ($0.byteSwapped, $0.description) }) }
  ) {
    $0.map(\.byteSwapped, \.description)
  }
  RuleRow(
    "Operators/Transforming/MapKeyPath", "map(_:_:_:) of key paths", .passesStrays,
    expects: { .values($0.values.map { ($0.byteSwapped, $0.description, $0.bitWidth) }) }
  ) {
    $0.map(\.byteSwapped, \.description, \.bitWidth)
  }
  RuleRow(
    "Operators/Transforming/CompactMap", "compactMap(_:)", .passesStrays,
    expects: { .values($0.values.filter { $0 != 1 }) }
  ) {
    $0.compactMap { $0 == 1 ? nil : $0 }
  }
  RuleRow(
    "Operators/Transforming/CompactMap", "tryCompactMap(_:)",
    expects: { .values($0.beforeTwo.filter { $0 != 1 }, then: $0.endingAtTwo) }
  ) {
    $0.tryCompactMap { try refusingTwo($0, $0 == 1 ? nil : $0) }
  }
  RuleRow(
    "Operators/Transforming/Scan", "scan(_:_:)", .passesStrays,
    expects: { .values($0.sums) }
  ) {
    $0.scan(0, +)
  }
  RuleRow(
    "Operators/Transforming/Scan", "tryScan(_:_:)", .passesStrays,
    expects: { .values($0.beforeTwo, then: $0.endingAtTwo) }
  ) {
    $0.tryScan(0) { try refusingTwo($1, $0 + $1) }
  }
  RuleRow("Operators/Transforming/ScanFromFirst", "scan(_:)", .passesStrays, expects: { .values($0.sums) }) {
    $0.scan(+)
  }
  RuleRow(
    "Operators/Transforming/ScanFromFirst", "tryScan(_:)", .passesStrays,
    expects: { .values($0.beforeTwo, then: $0.endingAtTwo) }
  ) {
    $0.tryScan { try refusingTwo($1, $0 + $1) }
  }
  RuleRow("Operators/Transforming/ScanInto", "scan(into:_:)", .passesStrays, expects: { .values($0.sums) }) {
    $0.scan(into: 0) { $0 += $1 }
  }
  RuleRow(
    "Operators/Transforming/ScanInto", "enumerated()", .passesStrays,
    expects: { .values($0.values.enumerated().map { (offset: $0, element: $1) }) }
  ) {
    $0.enumerated()
  }
  RuleRow(
    "Operators/Transforming/Pairwise", "pairwise()", .passesStrays,
    expects: { .values(zip($0.values, $0.values.dropFirst())) }
  ) {
    $0.pairwise()
  }
  RuleRow(
    "Operators/Transforming/Materialize", "materialize()",
    expects: { given in
      .values(
        given.values.map { .value($0) } + [.completion(given.fails ? .failure(MarbleFailure()) : .finished)],
        then: .finished)
    }
  ) {
    $0.materialize()
  }
  RuleRow(
    "Operators/Transforming/Materialize", "dematerialize() of materialize()", expects: { .values($0.values) }
  ) {
    $0.materialize().dematerialize()
  }
  RuleRow(
    "Operators/Transforming/Encode", "encode(encoder:)",
    expects: { .values($0.values.map { Data("[\($0)]".utf8) }) }
  ) {
    $0.map { [$0] }.encode(encoder: JSONEncoder())
  }
  RuleRow(
    "Operators/Transforming/Encode", "decode(type:decoder:)", expects: { .values($0.values.map { [$0] }) }
  ) {
    $0.map { Data("[\($0)]".utf8) }.decode(type: [Int].self, decoder: JSONDecoder())
  }
}
