import FeedStream
import FeedStreamTesting

/// Three values that arrive over time.
private func other(_ time: VirtualTimeScheduler) -> ScriptedPublisher<Int, MarbleFailure> { time.cold("7-8-9|") }

let combiningRows: [RuleRow] = [
  RuleRow("Operators/Combining/Buffer", "buffer(dropOldest)", .dependsOnDemand) {
    $0.buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)
  },
  RuleRow("Operators/Combining/Buffer", "buffer(keepFull)", .failsAtOnce) {
    $0.buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest)
  },
  RuleRow("Operators/Combining/CombineLatest", "combineLatest", timed: .dependsOnDemand) {
    $0.combineLatest(other($1))
  },
  RuleRow("Operators/Combining/CombineLatest", "combineLatest of three", timed: .dependsOnDemand) {
    $0.combineLatest(other($1), $0)
  },
  RuleRow("Operators/Combining/Concatenate", "append") { $0.append(7, 8) },
  RuleRow("Operators/Combining/Concatenate", "prepend") { $0.prepend(7, 8) },
  RuleRow("Operators/Combining/FlatMap", "flatMap", .dependsOnDemand) {
    $0.flatMap { value in [value, value].publisher.setFailureType(to: MarbleFailure.self) }
  },
  RuleRow("Operators/Combining/FlatMap", "flatMap(maxPublishers: 1)", timed: .failsAtOnce) { upstream, time in
    upstream.flatMap(maxPublishers: .max(1)) { _ in other(time) }
  },
  RuleRow("Operators/Combining/Merge", "merge", timed: .dependsOnDemand) { $0.merge(with: other($1)) },
  RuleRow("Operators/Combining/Merge", "mergeMany", timed: .dependsOnDemand) {
    Publishers.MergeMany($0, $0, other($1).eraseToAnyPublisher())
  },
  RuleRow("Operators/Combining/Repeat", "repeat(2)") { $0.repeat(2) },
  RuleRow("Operators/Combining/SwitchIfEmpty", "switchIfEmpty", timed: []) { $0.switchIfEmpty(other($1)) },
  RuleRow("Operators/Combining/SwitchToLatest", "switchToLatest", timed: .dependsOnDemand) { upstream, time in
    upstream.map { _ in other(time) }.switchToLatest()
  },
  RuleRow("Operators/Combining/Zip", "zip", timed: .failsAtOnce) { $0.zip(other($1)) },
  RuleRow("Operators/Combining/Zip", "zip of three", timed: .failsAtOnce) { $0.zip(other($1), $0) },
]

let errorRows: [RuleRow] = [
  RuleRow("Operators/Errors/AssertNoFailure", "assertNoFailure", .passesStrays) {
    $0.replaceError(with: 9).assertNoFailure()
  },
  RuleRow("Operators/Errors/Catch", "catch", timed: .passesStrays) { upstream, time in
    upstream.catch { _ in other(time) }
  },
  RuleRow("Operators/Errors/Catch", "tryCatch", .passesStrays) { $0.tryCatch { _ -> Upstream in throw Refusal() } },
  RuleRow("Operators/Errors/MapError", "mapError", .passesStrays) { $0.mapError { _ in Refusal() } },
  RuleRow("Operators/Errors/ReplaceError", "replaceError") { $0.replaceError(with: 9) },
  RuleRow("Operators/Errors/Retry", "retry(2)") { $0.retry(2) },
  RuleRow("Operators/Errors/RetryByPolicy", "retry(policy)", timed: []) {
    $0.retry(
      RetryPolicy(limit: 2, firstPause: .milliseconds(5), factor: 2, cap: .seconds(1), jitter: 0), scheduler: $1)
  },
  RuleRow("Operators/Errors/RetryWhen", "retry(when:)") { $0.retry { $0.prefix(2) } },
  RuleRow("Operators/Errors/SetFailureType", "setFailureType", .passesStrays) {
    $0.replaceError(with: 9).setFailureType(to: MarbleFailure.self)
  },
]
