import Harness

/// Reports which targets are met.
func noteTargets(_ rows: [Row], _ report: Report) {
  func row(_ name: String) -> Row {
    guard let row = rows.first(where: { $0.pipeline.name == name }) else {
      preconditionFailure("There is no pipeline named \(name)")
    }
    return row
  }
  func timesFloor(_ row: Row) -> Double { row.floor.map { 1 / $0.times } ?? 0 }
  func worst(_ rows: [Row], _ figure: (Row) -> Double?) -> (name: String, figure: Double)? {
    rows.compactMap { row in figure(row).map { (row.pipeline.name, $0) } }.min { $0.1 < $1.1 }
  }

  for (name, of) in [("", "map.filter.map"), (", its closures written in place,", "map.filter.map, written in place")] {
    let basic = timesFloor(row(of))
    report.target("`map.filter.map`\(name) within 2× of its floor", basic <= 2, number(basic))
  }
  let kinds: [Pipeline.Kind] = [.synchronous, .passing, .stateless, .stateful, .reducing, .grouping]
  let synchronous = rows.filter { kinds.contains($0.pipeline.kind) }
  if let far = worst(synchronous, { $0.floor?.times }) {
    report.target(
      "every synchronous pipeline within 8× of its floor", far.figure >= 1 / 8,
      "\(number(1 / far.figure)) (\(far.name))")
  }
  // Subjects and combined streams keep rules that their floors, which are plain loops, don't implement.
  let beyond = rows.filter {
    !kinds.contains($0.pipeline.kind) && $0.pipeline.kind != .lifecycle && timesFloor($0) > 8
  }
  report.target(
    "subjects and combined streams within 8× of theirs", beyond.isEmpty,
    beyond.isEmpty ? "all" : beyond.map { "\($0.pipeline.name) \(number(timesFloor($0)))" }.joined(separator: ", "))
  let faster = rows.filter { $0.pipeline.kind != .lifecycle }
  let median = faster.compactMap { $0.openCombine?.times }.median
  report.target("25× OpenCombine at the median", median >= 25, number(median))
  if let slowest = worst(faster, { $0.openCombine?.times }) {
    report.target(
      "5× OpenCombine at the worst, subscribing apart", slowest.figure >= 5,
      "\(number(slowest.figure)) (\(slowest.name))")
  }
  if let slowest = worst(rows, { $0.asyncAlgorithms?.times }) {
    report.target(
      "ahead of AsyncAlgorithms everywhere", slowest.figure >= 1, "\(number(slowest.figure)) (\(slowest.name))")
  }

  // Some rows measure the same loop, or the same source and sink with nothing in between: use the smaller figure, which
  // is more accurate.
  let floor = ["map.filter.map", "map.filter.map, erased 3 times"].compactMap { row($0).floor?.nanoseconds }.min()
  let scale = 3.6 / (floor ?? 3.6)
  let source = (rows.filter { $0.pipeline.kind == .passing } + [row("source alone")]).map(\.ours).min() ?? 0
  for (kind, name, limit) in [
    (Pipeline.Kind.stateless, "a stateless operator", 3.0), (.stateful, "a stateful operator", 6),
  ] {
    let added = rows.filter { $0.pipeline.kind == kind }.map { ($0.ours - source) * scale }.median
    report.target("\(name) adds at most \(Int(limit)) ns at the median", added <= limit, number(added))
  }
  for subscribers in [1, 100, 10_000] {
    let delivery = row("a subject to \(subscribers)").ours * scale
    report.target("a delivery to one of \(subscribers) subscribers: at most 10 ns", delivery <= 10, number(delivery))
  }
  let growth = (row("16 mixed").ours - source) / 16 / ((row("4 mixed").ours - source) / 4)
  report.target(
    "linear growth: an operator of 16 costs what one of 4 does", growth <= 1.5, "\(number(growth)) times")
  let repeats = [("scan", 3.0), ("removeDuplicates", 3), ("prefix", 3)].map { name, times in
    (name, (row("\(name) x\(Int(times))").ours - source) / times / (row(name).ours - source))
  }
  if let steepest = repeats.max(by: { $0.1 < $1.1 }) {
    report.target(
      "repeats: each of three costs at most three times what one alone does", steepest.1 <= 3,
      "\(number(steepest.1)) times (\(steepest.0))")
  }
  let order = row("16 mixed, another order").ours / row("16 mixed").ours
  report.target("the order of operators does not matter", order <= 1.5, "\(number(order)) times")

  // Operators that make arrays must allocate them.
  let allocating = synchronous.filter { $0.pipeline.kind != .grouping && $0.allocations.ours >= 0.01 }.map(
    \.pipeline.name)
  report.target(
    "no allocation per element in a synchronous pipeline", allocating.isEmpty,
    allocating.isEmpty ? "none" : allocating.joined(separator: ", "))
  for name in ["a chain of 3", "a stateful chain of 3"].flatMap({ [$0, "\($0), written in place"] }) {
    let chain = row("subscribe and cancel \(name)")
    if let its = chain.openCombine {
      report.target(
        "subscribe and cancel \(name): a quarter of OpenCombine's time", its.times >= 4, "1/\(number(its.times))")
    }
    let blocks = chain.allocations.ours / (chain.allocations.openCombine ?? 1)
    report.target("and half of its allocations", blocks <= 0.5, number(blocks))
  }
}
