import FeedStream
import FeedStreamTesting

let filteringRows: [RuleRow] = [
  RuleRow("Operators/Filtering/Filter", "filter", .passesStrays) { $0.filter { $0 != 1 } },
  RuleRow("Operators/Filtering/Filter", "tryFilter") { $0.tryFilter { try refusingTwo($0, $0 != 1) } },
  RuleRow("Operators/Filtering/Distinct", "distinct") { $0.map { $0 / 2 }.distinct() },
  RuleRow("Operators/Filtering/Drop", "dropFirst", .passesStrays) { $0.dropFirst(2) },
  RuleRow("Operators/Filtering/DropUntilOutput", "drop(untilOutputFrom:)", .dependsOnDemand) {
    $0.drop(untilOutputFrom: Just(1).setFailureType(to: MarbleFailure.self))
  },
  RuleRow("Operators/Filtering/DropWhile", "drop(while:)") { $0.drop { $0 < 2 } },
  RuleRow("Operators/Filtering/DropWhile", "tryDrop(while:)") { $0.tryDrop { try refusingTwo($0, $0 < 3) } },
  RuleRow("Operators/Filtering/First", "first") { $0.first() },
  RuleRow("Operators/Filtering/First", "first(where:)") { $0.first { $0 == 2 } },
  RuleRow("Operators/Filtering/First", "tryFirst(where:)") { $0.tryFirst { try refusingTwo($0, $0 == 3) } },
  RuleRow("Operators/Filtering/IgnoreOutput", "ignoreOutput", .passesStrays) { $0.ignoreOutput() },
  RuleRow("Operators/Filtering/Last", "last") { $0.last() },
  RuleRow("Operators/Filtering/Last", "last(where:)") { $0.last { $0 < 2 } },
  RuleRow("Operators/Filtering/Last", "tryLast(where:)") { $0.tryLast { try refusingTwo($0, $0 < 3) } },
  RuleRow("Operators/Filtering/Output", "prefix(2)", .passesStrays) { $0.prefix(2) },
  RuleRow("Operators/Filtering/Output", "prefix(0)", .failsAtOnce) { $0.prefix(0) },
  RuleRow("Operators/Filtering/Output", "output(in: 1..<3)", .passesStrays) { $0.output(in: 1..<3) },
  RuleRow("Operators/Filtering/PrefixUntilOutput", "prefix(untilOutputFrom:)", timed: .dependsOnDemand) {
    $0.prefix(untilOutputFrom: Just(1).delay(for: .milliseconds(3), scheduler: $1))
  },
  RuleRow("Operators/Filtering/PrefixWhile", "prefix(while:)") { $0.prefix { $0 < 2 } },
  RuleRow("Operators/Filtering/PrefixWhile", "tryPrefix(while:)") { $0.tryPrefix { try refusingTwo($0, $0 < 3) } },
  RuleRow("Operators/Filtering/RemoveDuplicates", "removeDuplicates") { $0.map { $0 / 2 }.removeDuplicates() },
  RuleRow("Operators/Filtering/RemoveDuplicates", "tryRemoveDuplicates") {
    $0.tryRemoveDuplicates { try refusingTwo($1, $0 == $1) }
  },
  RuleRow("Operators/Filtering/ReplaceEmpty", "replaceEmpty") { $0.replaceEmpty(with: 7) },
]

let reducingRows: [RuleRow] = [
  RuleRow("Operators/Reducing/AllSatisfy", "allSatisfy") { $0.allSatisfy { $0 < 2 } },
  RuleRow("Operators/Reducing/AllSatisfy", "tryAllSatisfy") { $0.tryAllSatisfy { try refusingTwo($0, true) } },
  RuleRow("Operators/Reducing/Collect", "collect") { $0.collect() },
  RuleRow("Operators/Reducing/CollectByCount", "collect(2)", .passesStrays) { $0.collect(2) },
  RuleRow("Operators/Reducing/Comparison", "max") { $0.max() },
  RuleRow("Operators/Reducing/Comparison", "tryMin") { $0.tryMin { try refusingTwo($1, $0 < $1) } },
  RuleRow("Operators/Reducing/Contains", "contains") { $0.contains(2) },
  RuleRow("Operators/Reducing/Contains", "tryContains") { $0.tryContains { try refusingTwo($0, $0 == 3) } },
  RuleRow("Operators/Reducing/Count", "count") { $0.count() },
  RuleRow("Operators/Reducing/Reduce", "reduce") { $0.reduce(0, +) },
  RuleRow("Operators/Reducing/Reduce", "tryReduce") { $0.tryReduce(0) { try refusingTwo($1, $0 + $1) } },
]
