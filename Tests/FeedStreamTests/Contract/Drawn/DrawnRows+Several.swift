import FeedStream
import FeedStreamTesting
import Foundation

extension DrawnRow {
  /// Closures that throw on "x", or on the value that the drawing names.
  static let trying = [
    DrawnRow("Filtering/DropWhile", "tryDrop { try isSmall($0) }") {
      $0.up.tryDrop { try throwing(on: "x", $0, (Int($0) ?? 0) < 5) }
    },
    DrawnRow("Filtering/Filter", "tryFilter { try isEven($0) }") {
      $0.up.tryFilter { try throwing(on: "3", $0, (Int($0) ?? 0) % 2 == 0) }
    },
    DrawnRow("Filtering/First", "tryFirst { try isEven($0) }") {
      $0.up.tryFirst { try throwing(on: "x", $0, (Int($0) ?? 0) % 2 == 0) }
    },
    DrawnRow("Filtering/Last", "tryLast { try isEven($0) }") {
      $0.up.tryLast { try throwing(on: "x", $0, (Int($0) ?? 0) % 2 == 0) }
    },
    DrawnRow("Filtering/PrefixWhile", "tryPrefix { try isSmall($0) }") {
      $0.up.tryPrefix { try throwing(on: "x", $0, (Int($0) ?? 0) < 5) }
    },
    DrawnRow("Filtering/RemoveDuplicates", "tryRemoveDuplicates { try isSame($0, $1) }") {
      $0.up.tryRemoveDuplicates { try throwing(on: "x", $1, $0 == $1) }
    },
    DrawnRow("Reducing/AllSatisfy", "tryAllSatisfy { try isEven($0) }", wide: true) {
      $0.up.tryAllSatisfy { try throwing(on: "x", $0, (Int($0) ?? 0) % 2 == 0) }
    },
    DrawnRow("Reducing/Comparison", "tryMin { try isLess($0, $1) }") {
      $0.up.tryMin { try throwing(on: "x", $0, throwing(on: "x", $1, $0 < $1)) }
    },
    DrawnRow("Reducing/Comparison", "tryMax { try isLess($0, $1) }") {
      $0.up.tryMax { try throwing(on: "x", $0, throwing(on: "x", $1, $0 < $1)) }
    },
    DrawnRow("Reducing/Contains", "tryContains { try isEven($0) }", wide: true) {
      $0.up.tryContains { try throwing(on: "x", $0, (Int($0) ?? 0) % 2 == 0) }
    },
    DrawnRow("Reducing/Reduce", "tryReduce(0) { try add($0, $1) }") {
      $0.up.tryReduce(0) { try throwing(on: "x", $1, $0 + (Int($1) ?? 0)) }
    },
    DrawnRow("Reducing/ReduceFromFirst", "tryReduce { try add($0, $1) }") {
      $0.up.tryReduce { try throwing(on: "x", $1, $0 + $1) }
    },
    DrawnRow("Transforming/CompactMap", "tryCompactMap { try parse($0) }", wide: true) {
      $0.wide().tryCompactMap { try throwing(on: "?", $0, Int($0)) }
    },
    DrawnRow("Transforming/Map", "tryMap { try parse($0) }") {
      $0.up.tryMap { try throwing(on: "3", $0, ["1": "a", "2": "b"][$0, default: "?"]) }
    },
    DrawnRow("Transforming/Scan", "tryScan(0) { try add($0, $1) }") {
      $0.up.tryScan(0) { try throwing(on: "x", $1, $0 + (Int($1) ?? 0)) }
    },
    DrawnRow("Transforming/ScanFromFirst", "tryScan { try add($0, $1) }") {
      $0.up.tryScan { try throwing(on: "x", $1, "\((Int($0) ?? 0) + (Int($1) ?? 0))") }
    },
    DrawnRow("Errors/Catch", "tryCatch { throw Worse($0) }") {
      $0.up.tryCatch { error -> Empty<String, any Error> in throw error }
    },
    DrawnRow("Errors/Catch", "catch { _ in fallback }") { sources in
      sources.up.catch { _ in sources.inner("fallback") }
    },
    DrawnRow("Errors/MapError", "mapError(MyError.init)") { $0.up.mapError { $0 as any Error } },
    DrawnRow("Errors/MapError", "eraseFailureType()") { $0.up.eraseFailureType() },
    DrawnRow("Errors/Retry", "retry(1)") { $0.attempts().retry(1) },
    DrawnRow("Errors/RetryByPolicy", "retry(.constant(.seconds(4)), scheduler: loop)") {
      $0.attempts().retry(.constant(.milliseconds(4)), scheduler: $0.time)
    },
    DrawnRow("Errors/RetryWhen", "retry(when:)") { sources in
      sources.attempts().retry(when: { errors in
        errors.flatMap { _ in Just("x").delay(for: .milliseconds(5), scheduler: sources.time) }
      })
    },
    DrawnRow("Errors/AssertNoFailure", "assertNoFailure()") { $0.up.assertNoFailure() },
    DrawnRow("Errors/SetFailureType", "setFailureType(to: MyError.self)") {
      $0.up.assertNoFailure().setFailureType(to: MarbleFailure.self)
    },
    DrawnRow("Effects/Breakpoint", "breakpoint(receiveOutput: { $0 == b })") {
      $0.up.breakpoint(receiveOutput: { _ in false })
    },
    DrawnRow("Effects/Checkpoint", "checkpoint(\"load feed\")") { $0.up.checkpoint("load feed") },
    DrawnRow("Effects/HandleEvents", "handleEvents(receiveOutput: log)") {
      $0.up.handleEvents(receiveOutput: { _ in })
    },
  ]

  static let flattening = [
    DrawnRow("Flattening/ConcatMap", "concatMap { Timer… }") { sources in
      sources.up.concatMap { sources.inner($0) }
    },
    DrawnRow("Flattening/FlatMap", "flatMap { Timer… }") { sources in sources.up.flatMap { sources.inner($0) } },
    DrawnRow("Flattening/FlatMapFirst", "flatMapFirst { Timer… }") { sources in
      sources.up.flatMapFirst { sources.inner($0) }
    },
    DrawnRow("Flattening/SwitchToLatest", "") { sources in sources.up.map { sources.inner($0) }.switchToLatest() },
    DrawnRow("Flattening/SwitchToLatest", "flatMapLatest { Timer… }") { sources in
      sources.up.flatMapLatest { sources.inner($0) }
    },
    DrawnRow("Flattening/Expand", "expand { $0 < 4 ? [$0 * 2, $0 * 2 + 1] : [] }") { sources in
      sources.numbers.expand { number in
        (number < 4 ? [number * 2, number * 2 + 1] : []).publisher.setFailureType(to: MarbleFailure.self)
      }
    },
    DrawnRow("Flattening/GroupBy", "groupBy { $0 % 2 }") {
      $0.numbers.groupBy { $0 % 2 }.map { $0.key == 0 ? "E" : "O" }
    },
    DrawnRow("Flattening/GroupBy", "groupBy { $0 % 2 }", lane: "O") {
      only($0.numbers.groupBy { $0 % 2 }.filter { $0.key == 1 })
    },
    DrawnRow("Flattening/GroupBy", "groupBy { $0 % 2 }", lane: "E") {
      only($0.numbers.groupBy { $0 % 2 }.filter { $0.key == 0 })
    },
    DrawnRow("Combining/CombineLatest", "combineLatest(other)", wide: true) {
      $0.up.combineLatest($0("other")) { $0 + $1 }
    },
    DrawnRow("Combining/CombineLatestMany", "[a, b].combineLatest()", wide: true) {
      [$0("a"), $0("b")].combineLatest()
    },
    DrawnRow("Combining/Zip", "zip(other)", wide: true) { $0.up.zip($0("other")) { $0 + $1 } },
    DrawnRow("Combining/ZipMany", "[a, b].zip()", wide: true) { [$0("a"), $0("b")].zip() },
  ]

  static let windows = ["downstream", "A", "B", "C"].flatMap { lane in
    [
      DrawnRow("Timing/Window", "window(on: trigger)", lane: lane) {
        named($0.up.window(on: $0("trigger").assertNoFailure()), lane)
      },
      DrawnRow("Timing/Window", "window(for: 4)", lane: lane) {
        named($0.up.window(for: .milliseconds(4), scheduler: $0.time), lane)
      },
    ] + (lane == "C" ? [] : [DrawnRow("Timing/Window", "window(2)", lane: lane) { named($0.up.window(2), lane) }])
  }

  /// The only inner stream, which completes before the stream of streams does.
  private static func only<P: Publisher, Failure>(_ streams: P) -> AnyPublisher<P.Output.Output, Failure>
  where P.Output: Publisher, P.Output.Failure == Failure, P.Failure == Failure {
    streams.flatMap { $0.materialize().setFailureType(to: Failure.self) }.catch { _ in Empty() }.dematerialize()
      .eraseToAnyPublisher()
  }

  /// The windows by their letters, or the contents of the window with this letter.
  private static func named<P: Publisher, Failure>(_ windows: P, _ lane: String) -> AnyPublisher<String, Failure>
  where P.Output: Publisher<String, Failure>, P.Failure == Failure {
    let lettered = windows.enumerated().map { (letter: ["A", "B", "C"][$0.offset], stream: $0.element) }
    if lane == "downstream" { return lettered.map(\.letter).eraseToAnyPublisher() }
    return only(lettered.filter { $0.letter == lane }.map(\.stream))
  }

  static let demanding = [
    DrawnRow("Backpressure/Buffer", "buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)") {
      $0.up.buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)
    },
    DrawnRow("Backpressure/OnBackpressure", "onBackpressureDrop()") { $0.up.onBackpressureDrop() },
    DrawnRow("Backpressure/OnBackpressure", "onBackpressureLatest()") { $0.up.onBackpressureLatest() },
    DrawnRow("Backpressure/OnBackpressure", "onBackpressureError { TooFast($0) }") {
      $0.up.onBackpressureError { _ in MarbleFailure() }
    },
    DrawnRow("../Publishers/Create", "") { sources in
      let sent = sources("sent")
      return Create<String, MarbleFailure>(size: 16, whenFull: .dropOldest) { emitter in
        let feeding = sent.sink(
          receiveCompletion: { emitter.send(completion: $0) }, receiveValue: { emitter.send($0) })
        emitter.onCancel { feeding.cancel() }
      }
    },
    DrawnRow("../Publishers/Generate", "") { _ in
      Generate(state: 1) { state in
        defer { state *= 2 }
        return state < 10 ? state : nil
      }
    },
    DrawnRow("../Publishers/Interval", "Interval(every: 3)") {
      Interval(every: .milliseconds(3), scheduler: $0.time).prefix(4)
    },
  ]

  static let sharing = [
    DrawnRow("Sharing/Multicast", "", lane: "second subscriber") {
      $0.late($0.up.multicast { PassthroughSubject<String, MarbleFailure>() }.autoconnect(), "second subscriber")
    },
    DrawnRow("Sharing/Share", "", lane: "second subscriber") { $0.late($0.up.share(), "second subscriber") },
    DrawnRow("Sharing/Share", "share(replay: 1)", lane: "second subscriber") {
      $0.late($0.up.share(replay: 1), "second subscriber")
    },
    DrawnRow("Timing/DelaySubscription", "delaySubscription(for: 3)") {
      $0.inner("upstream").delaySubscription(for: .milliseconds(3), scheduler: $0.time)
    },
  ]

  static let wide = [
    DrawnRow("Filtering/Distinct", "distinct(by: \\.count)", wide: true) { $0.wide().distinct(by: \.count) },
    DrawnRow("Reducing/CollectByStep", "collect(2, every: 1)", wide: true) { $0.up.collect(2, every: 1) },
    DrawnRow("Reducing/CollectByStep", "collect(2, every: 3)", wide: true) { $0.up.collect(2, every: 3) },
    DrawnRow("Reducing/Comparison", "min { $0.count < $1.count }", wide: true) {
      $0.wide().min { $0.count < $1.count }
    },
    DrawnRow("Reducing/Comparison", "max { $0.count < $1.count }", wide: true) {
      $0.wide().max { $0.count < $1.count }
    },
    DrawnRow("Transforming/CompactMap", "compactMap(Int.init)", wide: true) { $0.wide().compactMap { Int($0) } },
    DrawnRow("Transforming/Map", "replaceNil(with: 0)", wide: true) {
      $0.wide().map { Int($0) }.replaceNil(with: 0)
    },
    DrawnRow("Transforming/MapKeyPath", "map(\\.count)", wide: true) { $0.wide().map(\.count) },
    DrawnRow("Transforming/MapKeyPath", "map(\\.count, \\.isEmpty)", wide: true) { $0.wide().map(\.count, \.isEmpty) },
    DrawnRow("Transforming/MapKeyPath", "map(\\.count, \\.isEmpty, \\.first)", wide: true) {
      $0.wide().map(\.count, \.isEmpty, \.first).map { "(\($0.0),\($0.1),\($0.2 ?? "?"))" }
    },
    DrawnRow("Transforming/Materialize", "materialize()", wide: true) {
      $0.up.materialize().map { event in
        switch event {
        case .value(let value): "value(\(value))"
        case .completion(.failure): "completion(#)"
        case .completion(.finished): "completion(|)"
        }
      }
    },
    DrawnRow("Transforming/Materialize", "dematerialize()") {
      $0.wide().assertNoFailure().map { name -> Signal<String, MarbleFailure> in
        name.hasPrefix("value") ? .value("\(name.dropFirst(6).prefix(1))") : .completion(.failure(MarbleFailure()))
      }.dematerialize()
    },
    DrawnRow("Transforming/ScanInto", "scan(into: []) { $0.append($1) }", wide: true) {
      $0.numbers.scan(into: [Int]()) { $0.append($1) }
    },
    DrawnRow("../IO/Chunks/Framed", "framed(by: words)", wide: true) {
      $0.chunks.split(by: UInt8(ascii: ",")).map(\.text)
    },
    DrawnRow("../IO/Chunks/Recutting", "chunked(into: 2)", wide: true) { $0.chunks.chunked(into: 2).map(\.text) },
    DrawnRow("../IO/Chunks/Recutting", "joined(upTo: 10)", wide: true) { $0.chunks.joined(upTo: 10).map(\.text) },
    DrawnRow("../IO/Chunks/Recutting", "prefix(bytes: 5)", wide: true) { $0.chunks.prefix(bytes: 5).map(\.text) },
    DrawnRow("../IO/Chunks/Splitting", "split(by: ,)", wide: true) {
      $0.chunks.split(by: UInt8(ascii: ",")).map(\.text)
    },
    DrawnRow("../IO/Chunks/Splitting", "lines()", wide: true) { $0.chunks.lines() },
  ]
}
