import FeedStream
import FeedStreamTesting

/// An operator, as a program applies it.
struct Step: Sendable {
  let name: String
  let traits: Traits
  let apply: @Sendable (Upstream, inout Tape, World) -> Upstream

  init<P: Publisher & SendableMetatype>(
    _ name: String, _ traits: Traits = [], _ apply: @escaping @Sendable (Upstream, inout Tape, World) -> P
  ) where P.Output == Int {
    self.name = name
    self.traits = traits
    self.apply = { upstream, tape, world in
      Upstream(apply(upstream, &tape, world).mapError { _ in MarbleFailure() })
    }
  }
}

struct Refusal: Error {}

/// Keeps a value small, so that operators that multiply the number of values terminate.
func small(_ value: Int) -> Int { value & 31 }

func refusing<T>(_ value: Int, _ result: T) throws -> T {
  if value == 6 { throw Refusal() }
  return result
}

let catalogue: [Step] = transforming + filtering + reducing + errors + combining + timing + sharing

private let transforming: [Step] = [
  Step("map") { up, _, _ in up.map { small($0 + 1) } },
  Step("handleEvents") { up, _, _ in up.handleEvents(receiveOutput: { _ in }, receiveRequest: { _ in }) },
  Step("map.filter.map") { up, _, _ in up.map { small($0 + 3) }.filter { $0 != 5 }.map { small($0 * 3) } },
  Step("tryMap", .mayFail) { up, _, _ in up.tryMap { try refusing($0, $0) } },
  Step("map key paths") { up, _, _ in up.map(\.magnitude, \.bitWidth).map { small(Int($0.0) + $0.1) } },
  Step("compactMap") { up, _, _ in up.compactMap { $0 == 1 ? nil : $0 } },
  Step("tryCompactMap", .mayFail) { up, _, _ in up.tryCompactMap { try refusing($0, $0 == 1 ? nil : $0) } },
  Step("scan") { up, _, _ in up.scan(0) { small($0 + $1) } },
  Step("tryScan", .mayFail) { up, _, _ in up.tryScan(0) { try refusing($1, small($0 + $1)) } },
  Step("scan(into:)") { up, _, _ in up.scan(into: 0) { $0 = small($0 + $1) } },
  Step("materialize.dematerialize") { up, _, _ in up.materialize().dematerialize() },
  Step("pairwise") { up, _, _ in up.pairwise().map { small($0.0 + $0.1) } },
  Step("enumerated") { up, _, _ in up.enumerated().map { small($0.0 + $0.1) } },
]

private let filtering: [Step] = [
  Step("filter") { up, _, _ in up.filter { $0 != 2 } },
  Step("tryFilter", .mayFail) { up, _, _ in up.tryFilter { try refusing($0, $0 != 1) } },
  Step("distinct") { up, _, _ in up.distinct() },
  Step("dropFirst") { up, tape, _ in up.dropFirst(tape.below(4)) },
  Step("drop(while:)") { up, _, _ in up.drop { $0 < 3 } },
  Step("tryDrop(while:)", .mayFail) { up, _, _ in up.tryDrop { try refusing($0, $0 < 3) } },
  // If the other publisher completes first, upstream continues, as CONTRACT.md says.
  Step("drop(untilOutputFrom:)", [.dependsOnDemand, .mayStayOpen]) { up, tape, world in
    up.drop(
      untilOutputFrom: source(&tape, world).replaceError(with: 9).append(Empty(completeImmediately: false))
        .setFailureType(to: MarbleFailure.self))
  },
  Step("first") { up, _, _ in up.first() },
  Step("first(where:)") { up, _, _ in up.first { $0 == 2 } },
  Step("tryFirst(where:)", .mayFail) { up, _, _ in up.tryFirst { try refusing($0, $0 == 2) } },
  Step("ignoreOutput") { up, _, _ in up.ignoreOutput().map { (_: Never) -> Int in } },
  Step("last") { up, _, _ in up.last() },
  Step("last(where:)") { up, _, _ in up.last { $0 < 4 } },
  Step("tryLast(where:)", .mayFail) { up, _, _ in up.tryLast { try refusing($0, $0 < 4) } },
  Step("prefix", .failsAtOnce) { up, tape, _ in up.prefix(tape.below(4)) },
  Step("output(in:)") { up, tape, _ in up.output(in: tape.below(3)..<3) },
  Step("output(at:)") { up, tape, _ in up.output(at: tape.below(3)) },
  // The other publisher is not cancelled after its first value, as CONTRACT.md says.
  Step("prefix(untilOutputFrom:)", .dependsOnDemand) { up, tape, world in
    up.prefix(untilOutputFrom: source(&tape, world).first())
  },
  Step("prefix(while:)") { up, _, _ in up.prefix { $0 < 5 } },
  Step("prefix(while:inclusive:)") { up, _, _ in up.prefix(while: { $0 < 5 }, inclusive: true) },
  Step("tryPrefix(while:)", .mayFail) { up, _, _ in up.tryPrefix { try refusing($0, $0 < 5) } },
  Step("removeDuplicates") { up, _, _ in up.removeDuplicates() },
  Step("tryRemoveDuplicates", .mayFail) { up, _, _ in up.tryRemoveDuplicates { try refusing($1, $0 == $1) } },
  Step("replaceEmpty") { up, _, _ in up.replaceEmpty(with: 7) },
  Step("takeLast") { up, tape, _ in up.takeLast(tape.below(4)) },
]

private let reducing: [Step] = [
  Step("allSatisfy") { up, _, _ in up.allSatisfy { $0 < 4 }.map { $0 ? 1 : 0 } },
  Step("tryAllSatisfy", .mayFail) { up, _, _ in up.tryAllSatisfy { try refusing($0, true) }.map { $0 ? 1 : 0 } },
  Step("collect") { up, _, _ in up.collect().map { small($0.count) } },
  Step("collect(by count)") { up, tape, _ in up.collect(tape.below(3) + 1).map { small($0.reduce(0, +)) } },
  Step("max") { up, _, _ in up.max() },
  Step("tryMin", .mayFail) { up, _, _ in up.tryMin { try refusing($1, $0 < $1) } },
  Step("contains") { up, _, _ in up.contains(2).map { $0 ? 1 : 0 } },
  Step("tryContains", .mayFail) { up, _, _ in up.tryContains { try refusing($0, $0 == 3) }.map { $0 ? 1 : 0 } },
  Step("count") { up, _, _ in up.count().map(small) },
  Step("reduce") { up, _, _ in up.reduce(0) { small($0 + $1) } },
  Step("tryReduce", .mayFail) { up, _, _ in up.tryReduce(0) { try refusing($1, small($0 + $1)) } },
]

private let errors: [Step] = [
  Step("assertNoFailure") { up, _, _ in
    up.replaceError(with: 9).assertNoFailure().setFailureType(to: MarbleFailure.self)
  },
  Step("catch") { up, tape, world in
    let other = source(&tape, world)
    return up.catch { _ in other }
  },
  Step("tryCatch", .mayFail) { up, tape, world in
    let other = source(&tape, world)
    let refuses = tape.below(2) == 1
    return up.tryCatch { _ -> Upstream in
      if refuses { throw Refusal() }
      return other
    }
  },
  Step("replaceError") { up, _, _ in up.replaceError(with: 9).setFailureType(to: MarbleFailure.self) },
  Step("retry") { up, tape, _ in up.retry(tape.below(3)) },
  Step("retry(policy)") { up, tape, world in
    up.retry(
      RetryPolicy(
        limit: tape.below(3), firstPause: .milliseconds(tape.below(3)), factor: 2, cap: .seconds(1), jitter: 0),
      scheduler: world.time)
  },
  // The last signal and the signal's completion arrive together; the values delivered between them depend on the calls
  // on the stack.
  Step("retry(when:)", [.dependsOnDemand, .mayFail]) { up, tape, _ in
    let limit = tape.below(3)
    return up.retry { $0.prefix(limit) }
  },
  Step("switchIfEmpty") { up, tape, world in up.switchIfEmpty(source(&tape, world)) },
  Step("checkpoint") { up, _, _ in up.checkpoint("here") },
  Step("repeat") { up, tape, _ in up.repeat(tape.below(3)) },
]
