import FeedStream
import Harness

private struct Nowhere: TextOutputStream { mutating func write(_: String) {} }

/// Adds operators of one publisher that don't depend on time.
func addSynchronous(to rows: inout Rows) {
  addTransforming(to: &rows)
  addFiltering(to: &rows)
  addReducing(to: &rows)
  addEffects(to: &rows)
  addErrors(to: &rows)
}

private func addTransforming(to rows: inout Rows) {
  rows.add("Map", "map") { $0.map(work.triple).end($1) }
  rows.add("Map", "tryMap") { $0.tryMap(work.tripleOrThrow).end($1) }
  rows.add("MapKeyPath", "map(\\.self)") { $0.map(\.self).end($1) }
  rows.add("CompactMap", "compactMap") { $0.compactMap(work.any).end($1) }
  rows.add("CompactMap", "tryCompactMap") { $0.tryCompactMap(work.any).end($1) }
  rows.add("Scan", "scan") { $0.scan(0, work.add).end($1) }
  rows.add("Scan", "tryScan") { $0.tryScan(0, work.add).end($1) }
  rows.add("ScanFromFirst", "scan without a start") { $0.scan(work.add).end($1) }
  rows.add("ScanFromFirst", "tryScan without a start") { $0.tryScan(work.add).end($1) }
  rows.add("ScanInto", "scan(into:)") { $0.scan(into: 0) { $0 &+= $1 }.end($1) }
  rows.add("Pairwise", "pairwise") { $0.pairwise().map { $0.0 &+ $0.1 }.end($1) }
  rows.add("Materialize", "materialize") { $0.materialize().map { _ in 1 }.end($1) }
  rows.add("Materialize", "dematerialize") { source, add in
    source.map { Signal<Int, Never>.value($0) }.dematerialize().end(add)
  }
  rows.add("Encode", "encode, decode", share: 10) { source, add in
    source.encode(encoder: Coder()).decode(type: Int.self, decoder: Coder()).end(add)
  }
}

/// A coder that costs nothing itself.
private struct Coder: TopLevelEncoder, TopLevelDecoder {
  func encode<T: Encodable>(_ value: T) throws -> Int { value as? Int ?? 0 }
  func decode<T: Decodable>(_ type: T.Type, from number: Int) throws -> T {
    guard let value = number as? T else { throw Refusal.refused }
    return value
  }
}

private func addFiltering(to rows: inout Rows) {
  rows.add("Filter", "filter") { $0.filter(work.isEven).end($1) }
  rows.add("Filter", "tryFilter") { $0.tryFilter(work.isEven).end($1) }
  rows.add("RemoveDuplicates", "removeDuplicates") { $0.removeDuplicates().end($1) }
  rows.add("RemoveDuplicates", "tryRemoveDuplicates") { $0.tryRemoveDuplicates(by: work.same).end($1) }
  rows.add("Distinct", "distinct, of 64 keys") { $0.distinct(by: { $0 & 63 }).end($1) }
  rows.add("Prefix", "prefix") { $0.prefix(.max).end($1) }
  rows.add("Prefix", "output(in:)") { $0.output(in: 3...).end($1) }
  rows.add("PrefixWhile", "prefix(while:)") { $0.prefix(while: work.isAny).end($1) }
  rows.add("PrefixWhile", "tryPrefix(while:)") { $0.tryPrefix(while: work.isAny).end($1) }
  rows.add("PrefixUntilOutput", "prefix(untilOutputFrom:)") { $0.prefix(untilOutputFrom: Subject()).end($1) }
  rows.add("Drop", "dropFirst") { $0.dropFirst(3).end($1) }
  rows.add("DropWhile", "drop(while:)") { $0.drop(while: work.isNone).end($1) }
  rows.add("DropWhile", "tryDrop(while:)") { $0.tryDrop(while: work.isNone).end($1) }
  rows.add("DropUntilOutput", "drop(untilOutputFrom:)") { $0.drop(untilOutputFrom: Just(1)).end($1) }
  rows.add("First", "first(where:)") { $0.first(where: work.isNone).end($1) }
  rows.add("First", "tryFirst(where:)") { $0.tryFirst(where: work.isNone).end($1) }
  rows.add("Last", "last") { $0.last().end($1) }
  rows.add("Last", "last(where:)") { $0.last(where: work.isAny).end($1) }
  rows.add("Last", "tryLast(where:)") { $0.tryLast(where: work.isAny).end($1) }
  rows.add("TakeLast", "takeLast") { $0.takeLast(10).end($1) }
  rows.add("IgnoreOutput", "ignoreOutput") { $0.ignoreOutput().setOutputType(to: Int.self).end($1) }
  rows.add("ReplaceEmpty", "replaceEmpty") { $0.replaceEmpty(with: 0).end($1) }
}

private func addReducing(to rows: inout Rows) {
  rows.add("Reduce", "reduce") { $0.reduce(0, work.add).end($1) }
  rows.add("Reduce", "reduce(into:)") { $0.reduce(into: 0) { $0 &+= $1 }.end($1) }
  rows.add("Reduce", "tryReduce") { $0.tryReduce(0, work.add).end($1) }
  rows.add("ReduceFromFirst", "reduce without a start") { $0.reduce(work.add).end($1) }
  rows.add("Count", "count") { $0.count().end($1) }
  rows.add("Comparison", "max") { $0.max().end($1) }
  rows.add("Comparison", "tryMin(by:)") { $0.tryMin(by: work.less).end($1) }
  rows.add("Contains", "contains") { $0.contains(.min).map { $0 ? 1 : 0 }.end($1) }
  rows.add("Contains", "contains(where:)") { $0.contains(where: work.isNone).map { $0 ? 1 : 0 }.end($1) }
  rows.add("AllSatisfy", "allSatisfy") { $0.allSatisfy(work.isAny).map { $0 ? 1 : 0 }.end($1) }
  rows.add("AllSatisfy", "tryAllSatisfy") { $0.tryAllSatisfy(work.isAny).map { $0 ? 1 : 0 }.end($1) }
  rows.add("Collect", "collect") { $0.collect().map(\.count).end($1) }
  rows.add("CollectByCount", "collect(3)") { $0.collect(3).map(\.count).end($1) }
  rows.add("CollectByStep", "collect(3, every: 2)") { $0.collect(3, every: 2).map(\.count).end($1) }
}

private func addEffects(to rows: inout Rows) {
  rows.add("HandleEvents", "handleEvents") { $0.handleEvents(receiveOutput: work.note).end($1) }
  rows.add("Print", "print", share: 50) { $0.print("", to: Nowhere()).end($1) }
  rows.add("Breakpoint", "breakpoint") { $0.breakpoint(receiveOutput: work.isNone).end($1) }
  rows.add("Checkpoint", "checkpoint") { $0.checkpoint("here").end($1) }
  rows.add("Erasure", "eraseToAnyPublisher") { $0.eraseToAnyPublisher().end($1) }
  rows.add("KeepsLoopAlive", "keepsLoopAlive") { $0.keepsLoopAlive(false).end($1) }
}

private func addErrors(to rows: inout Rows) {
  rows.add("SetFailureType", "setFailureType") { $0.setFailureType(to: Refusal.self).end($1) }
  rows.add("MapError", "mapError") { source, add in
    source.setFailureType(to: Refusal.self).mapError { $0 as any Error }.end(add)
  }
  rows.add("ReplaceError", "replaceError") { source, add in
    source.setFailureType(to: Refusal.self).replaceError(with: 0).end(add)
  }
  rows.add("AssertNoFailure", "assertNoFailure") { source, add in
    source.setFailureType(to: Refusal.self).assertNoFailure().end(add)
  }
  rows.add("Catch", "catch") { $0.setFailureType(to: Refusal.self).catch { _ in Just(0) }.end($1) }
  rows.add("Catch", "tryCatch") { $0.setFailureType(to: Refusal.self).tryCatch { _ in Just(0) }.end($1) }
  rows.add("Retry", "retry") { $0.setFailureType(to: Refusal.self).retry(3).end($1) }
  rows.add("RetryWhen", "retry(when:)") { source, add in
    source.setFailureType(to: Refusal.self).retry(when: { $0 }).end(add)
  }
  rows.add("RetryByPolicy", "retry by policy") { source, add in
    source.setFailureType(to: Refusal.self)
      .retry(.constant(.seconds(1), limit: 3), scheduler: ImmediateScheduler.shared).end(add)
  }
  rows.add("Repeat", "repeat") { $0.repeat(1).end($1) }
}

typealias Subject = PassthroughSubject<Int, Never>
