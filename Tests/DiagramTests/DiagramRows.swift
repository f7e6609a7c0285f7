import FeedStream
import FeedStreamTesting

/// The diagrams, by the headings of the article.
let diagramRows: [(family: String, rows: [DiagramRow])] = [
  ("Transforming", transformingRows), ("Filtering", filteringRows), ("Reducing", reducingRows),
  ("Combining", combiningRows), ("Failures", failureRows), ("Time", timeRows), ("Demand", demandRows),
]

/// Returns a stream for each letter, which delivers the letter with each digit in `marbles`.
private func answering(_ marbles: String, on time: VirtualTimeScheduler) -> (String) -> AnyPublisher<
  String, MarbleFailure
> {
  { letter in
    let digits: Letters = time.cold(marbles, frame: 1)
    return digits.map { letter + $0 }.eraseToAnyPublisher()
  }
}

private let transformingRows: [DiagramRow] = [
  DiagramRow("map", "map { $0 * 10 }", "1-2--3|", "a-b--c|", values: ["a": 10, "b": 20, "c": 30]) {
    (source: Numbers, _) in source.map { $0 * 10 }
  },
  DiagramRow("compactMap", "compactMap { Int($0) }", "1-b-3-d|", "1---3--|") { (source: Letters, _) in
    source.compactMap { Int($0) }
  },
  DiagramRow("scan", "scan(0, +)", "1-2--3-4|", "1-3--6-a|", values: ["1": 1, "3": 3, "6": 6, "a": 10]) {
    (source: Numbers, _) in source.scan(0, +)
  },
  DiagramRow(
    "flatMap", "flatMap { answers($0) }", "a--b|", "m-np-q|", values: ["m": "a1", "n": "a2", "p": "b1", "q": "b2"]
  ) { (source: Letters, time) in
    let answers = answering("1-2|", on: time)
    return source.flatMap { answers($0) }
  },
]

private let filteringRows: [DiagramRow] = [
  DiagramRow("filter", "filter { $0 > 2 }", "1-3-2-5-1-4|", "--3---5---4|") { (source: Numbers, _) in
    source.filter { $0 > 2 }
  },
  DiagramRow("removeDuplicates", "removeDuplicates()", "a-a-b-b-a|", "a---b---a|") { (source: Letters, _) in
    source.removeDuplicates()
  },
  DiagramRow("distinct", "distinct()", "a-b-a-c-b|", "a-b---c--|") { (source: Letters, _) in source.distinct() },
  DiagramRow("prefix", "prefix(2)", "a-b-c-d|", "a-(b|)") { (source: Letters, _) in source.prefix(2) },
  DiagramRow("prefix-while", "prefix { $0 < 3 }", "1-2-3-1|", "1-2-|") { (source: Numbers, _) in
    source.prefix { $0 < 3 }
  },
  DiagramRow("dropFirst", "dropFirst(2)", "a-b-c-d|", "----c-d|") { (source: Letters, _) in source.dropFirst(2) },
  DiagramRow("last", "last()", "a-b-c-|", "------(c|)") { (source: Letters, _) in source.last() },
  DiagramRow("replaceEmpty", "replaceEmpty(with: \"none\")", "----|", "----(n|)", values: ["n": "none"]) {
    (source: Letters, _) in source.replaceEmpty(with: "none")
  },
]

private let reducingRows: [DiagramRow] = [
  DiagramRow("reduce", "reduce(0, +)", "1-2--3|", "------(6|)") { (source: Numbers, _) in source.reduce(0, +) },
  DiagramRow(
    "collect", "collect(2)", "a-b-c-d-e|", "--x---y--(z|)", values: ["x": ["a", "b"], "y": ["c", "d"], "z": ["e"]]
  ) {
    (source: Letters, _) in source.collect(2)
  },
  DiagramRow("count", "count()", "a-b--c|", "------(3|)") { (source: Letters, _) in source.count() },
  DiagramRow("contains", "contains(2)", "1-2-3|", "--(t|)", values: ["t": true]) { (source: Numbers, _) in
    source.contains(2)
  },
]

private let combiningRows: [DiagramRow] = [
  DiagramRow("merge", "merge(with: other)", "a--b---c|", other: "-1---2-|", "a1-b-2-c|") {
    (source: Letters, other, _) in source.merge(with: other)
  },
  DiagramRow(
    "zip", "zip(other) { $0 + $1 }", "a-b---c-|", other: "--1-2---3|", "--x-y---(z|)",
    values: ["x": "a1", "y": "b2", "z": "c3"]
  ) { (source: Letters, other, _) in source.zip(other) { $0 + $1 } },
  DiagramRow(
    "combineLatest", "combineLatest(other) { $0 + $1 }", "a--b---c-|", other: "-1---2-|", "-w-x-y-z-|",
    values: ["w": "a1", "x": "b1", "y": "b2", "z": "c2"]
  ) { (source: Letters, other, _) in source.combineLatest(other) { $0 + $1 } },
  DiagramRow(
    "withLatestFrom", "withLatestFrom(other) { $0 + $1 }", "-a--b-c-|", other: "1--2-3--|", "-x--y-z-|",
    values: ["x": "a1", "y": "b2", "z": "c3"]
  ) { (source: Letters, other, _) in source.withLatestFrom(other) { $0 + $1 } },
  DiagramRow("append", "append(other)", "a-b|", other: "-1-2|", "a-b-1-2|") { (source: Letters, other, _) in
    source.append(other)
  },
  DiagramRow(
    "switchToLatest", "map { answers($0) }.switchToLatest()", "a--b|", "m-nx-y-z|",
    values: ["m": "a1", "n": "a2", "x": "b1", "y": "b2", "z": "b3"]
  ) { (source: Letters, time) in
    let answers = answering("1-2-3|", on: time)
    return source.map { answers($0) }.switchToLatest()
  },
  DiagramRow("switchIfEmpty", "switchIfEmpty(other)", "---|", other: "1-2|", "---1-2|") {
    (source: Letters, other, _) in source.switchIfEmpty(other)
  },
]

private let failureRows: [DiagramRow] = [
  DiagramRow("catch", "catch { _ in other }", "a-b-#", other: "-1-2|", "a-b--1-2|") { (source: Letters, other, _) in
    source.catch { _ in other }
  },
  DiagramRow("retry", "retry(1)", "a-b#", "a-ba-b#") { (source: Letters, _) in source.retry(1) },
  DiagramRow("replaceError", "replaceError(with: \"?\")", "a-b-#", "a-b-(?|)") { (source: Letters, _) in
    source.replaceError(with: "?")
  },
]

private let timeRows: [DiagramRow] = [
  DiagramRow("debounce", "debounce(for: 2, scheduler: time)", "ab---cde---|", "---b-----e-|", showsTimes: true) {
    (source: Letters, time) in source.debounce(for: 2, scheduler: time)
  },
  DiagramRow(
    "throttle", "throttle(for: 3, scheduler: time, latest: true)", "abcd-e----|", "a--d--e---|", showsTimes: true
  ) { (source: Letters, time) in source.throttle(for: 3, scheduler: time, latest: true) },
  DiagramRow("delay", "delay(for: 2, scheduler: time)", "a-b--c|", "--a-b--c|", showsTimes: true) {
    (source: Letters, time) in source.delay(for: 2, scheduler: time)
  },
  DiagramRow("sample", "sample(on: other.assertNoFailure())", "a-bc--d---|", other: "-x--x---x--|", "-a--c---d-|") {
    (source: Letters, other, _) in source.sample(on: other.assertNoFailure())
  },
  DiagramRow("timeout", "timeout(3, scheduler: time)", "a-b------c|", "a-b--|", showsTimes: true) {
    (source: Letters, time) in source.timeout(3, scheduler: time)
  },
  DiagramRow(
    "collect-by-time", "collect(.byTime(time, 3))", "a-b-cd-e|", "---x--y-(z|)",
    values: ["x": ["a", "b"], "y": ["c", "d"], "z": ["e"]], showsTimes: true
  ) { (source: Letters, time) in source.collect(.byTime(time, 3)) },
  DiagramRow("prefix-for", "prefix(for: 4, scheduler: time)", "a-b-c-d|", "a-b-|", showsTimes: true) {
    (source: Letters, time) in source.prefix(for: 4, scheduler: time)
  },
]

private let demandRows: [DiagramRow] = [
  DiagramRow(
    "demand", "map { $0.uppercased() }", "abcd|", "AB---C--(D|)",
    asking: DemandScript(
      initial: .max(2), later: [DemandScript.Later(after: 5, .max(1)), DemandScript.Later(after: 8, .max(1))])
  ) { (source: Letters, _) in source.map { $0.uppercased() } },
  DiagramRow(
    "buffer", "buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)", "abcde|", "a-----(de|)",
    asking: DemandScript(initial: .max(1), later: [DemandScript.Later(after: 6, .max(3))])
  ) { (source: Letters, _) in source.buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest) },
]
