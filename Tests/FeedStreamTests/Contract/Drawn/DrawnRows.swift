import FeedStream
import FeedStreamTesting

extension DrawnRow {
  private static let ms: @Sendable (Int) -> Duration = { .milliseconds($0) }

  static let all =
    filtering + reducing + transforming + errors + combining + timing + trying + flattening + windows + demanding
    + sharing
    + wide

  static let filtering = [
    DrawnRow("Filtering/Distinct", "distinct()") { $0.up.distinct() },
    DrawnRow("Filtering/Drop", "dropFirst(2)") { $0.up.dropFirst(2) },
    DrawnRow("Filtering/DropUntilOutput", "") { $0.up.drop(untilOutputFrom: $0("publisher")) },
    DrawnRow("Filtering/DropWhile", "drop(while: { $0 < 5 })") { $0.numbers.drop(while: { $0 < 5 }) },
    DrawnRow("Filtering/Filter", "filter(isEven)") { $0.numbers.filter { $0 % 2 == 0 } },
    DrawnRow("Filtering/First", "first()") { $0.up.first() },
    DrawnRow("Filtering/First", "first(where: isEven)") { $0.numbers.first { $0 % 2 == 0 } },
    DrawnRow("Filtering/IgnoreOutput", "ignoreOutput()") { $0.up.ignoreOutput() },
    DrawnRow("Filtering/IgnoreOutput", "setOutputType(to: String.self)") {
      $0.up.ignoreOutput().setOutputType(to: String.self)
    },
    DrawnRow("Filtering/Last", "last()") { $0.up.last() },
    DrawnRow("Filtering/Last", "last { $0 < 3 }") { $0.numbers.last { $0 < 3 } },
    DrawnRow("Filtering/Prefix", "prefix(2)") { $0.up.prefix(2) },
    DrawnRow("Filtering/Prefix", "output(at: 1)") { $0.up.output(at: 1) },
    DrawnRow("Filtering/Prefix", "output(in: 1...2)") { $0.up.output(in: 1...2) },
    DrawnRow("Filtering/PrefixUntilOutput", "") { $0.up.prefix(untilOutputFrom: $0("publisher").first()) },
    DrawnRow("Filtering/PrefixWhile", "prefix(while: { $0 < 5 })") { $0.numbers.prefix(while: { $0 < 5 }) },
    DrawnRow("Filtering/PrefixWhile", "prefix(while: { $0 < 5 }, inclusive: true)") {
      $0.numbers.prefix(while: { $0 < 5 }, inclusive: true)
    },
    DrawnRow("Filtering/RemoveDuplicates", "removeDuplicates()") { $0.up.removeDuplicates() },
    DrawnRow("Filtering/RemoveDuplicates", "removeDuplicates { $0.lowercased() == $1.lowercased() }") {
      $0.up.removeDuplicates { $0.lowercased() == $1.lowercased() }
    },
    DrawnRow("Filtering/ReplaceEmpty", "replaceEmpty(with: z)") { $0.up.replaceEmpty(with: "z") },
    DrawnRow("Filtering/TakeLast", "takeLast(2)") { $0.up.takeLast(2) },
  ]

  static let reducing = [
    DrawnRow("Reducing/AllSatisfy", "allSatisfy(isEven)", wide: true) { $0.numbers.allSatisfy { $0 % 2 == 0 } },
    DrawnRow("Reducing/Collect", "collect()", wide: true) { $0.up.collect() },
    DrawnRow("Reducing/CollectByCount", "collect(2)", wide: true) { $0.up.collect(2) },
    DrawnRow("Reducing/Comparison", "min()") { $0.up.min() },
    DrawnRow("Reducing/Comparison", "max()") { $0.up.max() },
    DrawnRow("Reducing/Contains", "contains(b)", wide: true) { $0.up.contains("b") },
    DrawnRow("Reducing/Contains", "contains(where: isEven)", wide: true) { $0.numbers.contains { $0 % 2 == 0 } },
    DrawnRow("Reducing/Count", "count()") { $0.up.count() },
    DrawnRow("Reducing/Reduce", "reduce(0, +)") { $0.numbers.reduce(0, +) },
    DrawnRow("Reducing/Reduce", "reduce(into: []) { $0.append($1) }", wide: true) {
      $0.numbers.reduce(into: [Int]()) { $0.append($1) }
    },
    DrawnRow("Reducing/ReduceFromFirst", "reduce(+)") { sources in sources.numbers.reduce { $0 + $1 } },
  ]

  static let transforming = [
    DrawnRow("Transforming/Map", "map { $0 * 10 }", wide: true) { $0.numbers.map { $0 * 10 } },
    DrawnRow("Transforming/Pairwise", "pairwise()", wide: true) { $0.up.pairwise() },
    DrawnRow("Transforming/Scan", "scan(0, +)") { $0.numbers.scan(0, +) },
    DrawnRow("Transforming/ScanFromFirst", "scan(+)") { sources in sources.numbers.scan { $0 + $1 } },
    DrawnRow("Transforming/ScanInto", "enumerated()", wide: true) { $0.up.enumerated().map { "(\($0.0),\($0.1))" } },
    DrawnRow("Effects/MeasureInterval", "measureInterval(using: loop)") {
      $0.up.measureInterval(using: $0.time).map { Int($0.nanoseconds / 1_000_000) }
    },
  ]

  static let errors = [
    DrawnRow("Errors/ReplaceError", "replaceError(with: z)") { $0.up.replaceError(with: "z") },
    DrawnRow("Errors/Repeat", "repeat(3, after: 4, scheduler: loop)") {
      $0.cold.repeat(3, after: ms(4), scheduler: $0.time)
    },
    DrawnRow("Errors/Repeat", "repeat(2)") {
      $0.cold.repeat(2)
    },
  ]

  static let combining = [
    DrawnRow("Combining/Concatenate", "append(suffix)") { $0.up.append($0("suffix")) },
    DrawnRow("Combining/Concatenate", "prepend(prefix)") { $0.up.prepend($0("prefix")) },
    DrawnRow("Combining/Merge", "merge(with: other)") { $0.up.merge(with: $0("other")) },
    DrawnRow("Combining/Race", "race(with: other)") { $0.up.race(with: $0("other")) },
    DrawnRow("Combining/SwitchIfEmpty", "switchIfEmpty(other)") { $0.up.switchIfEmpty($0("other")) },
    DrawnRow("Combining/WithLatestFrom", "withLatestFrom(other)", wide: true) {
      $0.up.withLatestFrom($0("other")) { $0 + $1 }
    },
  ]

  static let timing = [
    DrawnRow("Timing/CollectByTime", "collect(.byTime(scheduler, 5))", wide: true) {
      $0.up.collect(.byTime($0.time, .milliseconds(5)))
    },
    DrawnRow("Timing/CollectOn", "buffer(on: trigger)", wide: true) {
      $0.up.buffer(on: $0("trigger").assertNoFailure())
    },
    DrawnRow("Timing/Debounce", "debounce(for: 3)") { $0.up.debounce(for: ms(3), scheduler: $0.time) },
    DrawnRow("Timing/Delay", "delay(for: 3)") { $0.up.delay(for: ms(3), scheduler: $0.time) },
    DrawnRow("Timing/PrefixFor", "prefix(for: 4)") { $0.up.prefix(for: ms(4), scheduler: $0.time) },
    DrawnRow("Timing/Sample", "sample(on: trigger)") { $0.up.sample(on: $0("trigger").assertNoFailure()) },
    DrawnRow("Timing/Sample", "sample(every: 4)") { $0.up.sample(every: ms(4), scheduler: $0.time) },
    DrawnRow("Timing/Throttle", "throttle(for: 4, latest: true)") {
      $0.up.throttle(for: ms(4), scheduler: $0.time, latest: true)
    },
    DrawnRow("Timing/Timeout", "timeout(4)") { $0.up.timeout(ms(4), scheduler: $0.time) },
    DrawnRow("Timing/Timeout", "timeout(4, scheduler: loop) { LoadError.tooSlow($0) }") {
      $0.up.timeout(ms(4), scheduler: $0.time) { _ in MarbleFailure() }
    },
    DrawnRow("Timing/TimeoutFallback", "timeout(4, fallback: …)") {
      $0.up.timeout(ms(4), scheduler: $0.time, fallback: $0("fallback"))
    },
  ]
}
