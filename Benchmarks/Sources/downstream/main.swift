// The effect of an operator on its neighbors: compares the source alone with the source and the operator downstream. An
// operator that subscribes in code that is not specialized makes everything above it many times slower.
//
//     downstream [--short] [NAME …]
//
// Exits with 1 when something above an operator, or below a source, became slower, and when a file of operators has no
// row.
import Foundation
import Harness

var rows = Rows()
addSynchronous(to: &rows)
addJoining(to: &rows)
addTiming(to: &rows)

let arguments = CommandLine.arguments.dropFirst()
let isShort = arguments.contains("--short")
let names = arguments.filter { !$0.hasPrefix("--") }
func wants(_ name: String) -> Bool { names.isEmpty || names.contains { name.contains($0) } }
let rounds = isShort ? 3 : 7
let count = isShort ? 400_000 : 2_000_000

/// Nanoseconds per value in the best round, because other programs only make a round slower.
func best(_ count: Int, _ body: () -> Void) -> Double {
  (0..<rounds).map { _ in Clock.processor.time(body).nanoseconds / Double(count) }.min() ?? 0
}

func cost(of row: Row, _ count: Int, rarely: Bool) -> Double {
  let total = Total()
  partner = Numbers(count: rarely ? count / rarity : count)
  return best(count) { row.run(source(of: count, rarely: rarely), total.add) }
}

var failures: [String] = []
let alone = Row(file: "", name: "the source alone", share: 1) { source, add in
  withExtendedLifetime(source.end(add)) {}
}
let above = cost(of: alone, count, rarely: true)
let through = cost(of: alone, count, rarely: false)

show(
  """
  | Operator | above it, ns a value | times the source alone | the operator, ns a value |
  |---|---|---|---|
  | \(alone.name) | \(number(above)) | 1 | |
  """)
for row in rows.all where wants(row.name) {
  let its = cost(of: row, count, rarely: true)
  let own = cost(of: row, max(20_000, count / row.share / 4), rarely: false) - through
  show("| \(row.name) | \(number(its)) | \(number(its / above)) | \(number(max(0, own))) |")
  // Each value that passes, one in 10,000, may cost its own task.
  if its > above * 2 + 2 {
    failures.append("\(row.name): everything above it takes \(number(its / above)) times longer")
  }
}

show("\n| Source | ns a value | with map, filter and map below it | they add |\n|---|---|---|---|")
for row in sourceRows() where wants(row.name) {
  let total = Total()
  let short = best(count) { row.run(count, false, total.add) }
  let long = best(count) { row.run(count, true, total.add) }
  show("| \(row.name) | \(number(short)) | \(number(long)) | \(number(max(0, long - short))) |")
  if long - short > 30 { failures.append("\(row.name): three operators below it take \(number(long - short)) ns") }
}

// Each file of operators has a row, except these, which only forward to operators in other files.
let forwarding: Set = [
  "InDurations", "OnAnyLoopScheduler", "PredicateReduction", "MergeUnfailing", "ZipUnfailing", "CombineLatestUnfailing",
]
let operators = URL(filePath: #filePath).appending(path: "../../../../Sources/FeedStream/Operators").standardized
let files = FileManager.default.enumerator(atPath: operators.path)?.compactMap { $0 as? String } ?? []
let known = Set(rows.all.map(\.file)).union(forwarding)
for file in files where file.hasSuffix(".swift") {
  let name = file.split(separator: "/").last?.dropLast(".swift".count) ?? ""
  if !known.contains(String(name)) { failures.append("\(file) has no row: add one to Benchmarks/Sources/downstream") }
}
for failure in failures { show("\n\(failure)") }
exit(failures.isEmpty ? 0 : 1)
