import FeedStream
import FeedStreamTesting
import Foundation

let transformingRows: [RuleRow] = [
  RuleRow("Operators/Transforming/Map", "map", .passesStrays) { $0.map { $0 * 2 } },
  RuleRow("Operators/Transforming/Map", "tryMap", .passesStrays) { $0.tryMap { try refusingTwo($0, $0) } },
  RuleRow("Operators/Transforming/MapKeyPath", "map(key path)", .passesStrays) { $0.map(\.bitWidth) },
  RuleRow("Operators/Transforming/MapKeyPath", "map(two key paths)", .passesStrays) {
    $0.map(\.bitWidth, \.description)
  },
  RuleRow("Operators/Transforming/CompactMap", "compactMap", .passesStrays) { $0.compactMap { $0 == 1 ? nil : $0 } },
  RuleRow("Operators/Transforming/CompactMap", "tryCompactMap") {
    $0.tryCompactMap { try refusingTwo($0, $0 == 1 ? nil : $0) }
  },
  RuleRow("Operators/Transforming/Scan", "scan", .passesStrays) { $0.scan(0, +) },
  RuleRow("Operators/Transforming/Scan", "tryScan", .passesStrays) { $0.tryScan(0) { try refusingTwo($1, $0 + $1) } },
  RuleRow("Operators/Transforming/Encode", "encode") { $0.map { [$0] }.encode(encoder: JSONEncoder()) },
  RuleRow("Operators/Transforming/Encode", "decode") {
    $0.map { Data("[\($0)]".utf8) }.decode(type: [Int].self, decoder: JSONDecoder())
  },
]
