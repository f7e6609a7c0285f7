import FeedStream
import FeedStreamTesting

/// Three values that arrive over time.
private func other(_ time: VirtualTimeScheduler) -> ScriptedPublisher<Int, MarbleFailure> { time.cold("7-8-9|") }

/// The operators that Combine has not.
let beyondRows: [RuleRow] = [
  RuleRow("Operators/Combining/ConcatMap", "concatMap", timed: .failsAtOnce) { upstream, time in
    upstream.concatMap { _ in other(time) }
  },
  RuleRow("Operators/Combining/Expand", "expand", .dependsOnDemand) { upstream in
    upstream.expand { value in
      value > 3 ? Upstream(Empty()) : Upstream(Just(value + 3).setFailureType(to: MarbleFailure.self))
    }
  },
  RuleRow("Operators/Combining/FlatMapFirst", "flatMapFirst", timed: .dependsOnDemand) { upstream, time in
    upstream.flatMapFirst { _ in other(time) }
  },
  RuleRow("Operators/Combining/GroupBy", "groupBy", .dependsOnDemand) { upstream in
    upstream.groupBy { $0 % 2 }.flatMap { $0 }
  },
  RuleRow("Operators/Combining/MergeByArity", "merge of four", timed: .dependsOnDemand) { upstream, time in
    upstream.merge(with: other(time), other(time), upstream)
  },
  RuleRow("Operators/Combining/OnBackpressure", "onBackpressureDrop", .dependsOnDemand) { $0.onBackpressureDrop() },
  RuleRow("Operators/Combining/OnBackpressure", "onBackpressureLatest", .dependsOnDemand) { $0.onBackpressureLatest() },
  RuleRow("Operators/Combining/Race", "race", timed: .dependsOnDemand) { $0.race(with: other($1)) },
  RuleRow("Operators/Combining/WithLatestFrom", "withLatestFrom", timed: .dependsOnDemand) {
    $0.withLatestFrom(other($1))
  },
  RuleRow("Operators/Combining/ZipAll", "zip of any arity", timed: .failsAtOnce) { upstream, time in
    zip(upstream, other(time), upstream)
  },
  RuleRow("Operators/Combining/ZipMany", "zip of a collection", timed: .failsAtOnce) { upstream, time in
    [upstream, other(time).eraseToAnyPublisher()].zip()
  },
  RuleRow("Operators/Combining/ZipMany", "combineLatest of a collection", timed: .dependsOnDemand) { upstream, time in
    [upstream, other(time).eraseToAnyPublisher()].combineLatest()
  },
  RuleRow("Operators/Effects/Checkpoint", "checkpoint", .passesStrays) { $0.checkpoint("here") },
  RuleRow("Operators/Filtering/TakeLast", "takeLast(2)") { $0.takeLast(2) },
  RuleRow("Operators/Filtering/PrefixWhile", "prefix(while:inclusive)") {
    $0.prefix(while: { $0 < 1 }, inclusive: true)
  },
  RuleRow("Operators/Transforming/Materialize", "materialize.dematerialize") { upstream in
    upstream.materialize().dematerialize()
  },
  RuleRow("Operators/Transforming/Pairwise", "pairwise", .passesStrays) { $0.pairwise() },
  RuleRow("Operators/Transforming/ScanInto", "scan(into:)", .passesStrays) { $0.scan(into: 0) { $0 += $1 } },
  RuleRow("Operators/Transforming/ScanInto", "enumerated", .passesStrays) { $0.enumerated() },
]
