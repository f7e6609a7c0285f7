import AsyncAlgorithms
import Dispatch
import Harness

/// The pipelines for which `AsyncSequence` and swift-async-algorithms have the operators.
///
/// A pipeline of two subjects uses two sequences instead. There is no subject here, so a channel takes its place.
public func pipelines() -> [Pipeline] {
  var all = Pipelines()
  addChains(to: &all)
  addCombining(to: &all)
  addOperators(to: &all)
  return all.all
}

private typealias Numbers = AsyncSyncSequence<Range<Int>>

/// Runs `body` in a task and waits for it.
private func wait(_ body: @escaping (Int, (Int) -> Void) async throws -> Void) -> (Int) -> Int {
  { count in
    let total = Total()
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) let add = total.add  // used only by the task, until the semaphore signals its end
    nonisolated(unsafe) let body = body
    Task.detached {
      do { try await body(count, add) } catch { fatalError("No pipeline here fails: \(error)") }
      done.signal()
    }
    done.wait()
    return total.value
  }
}

private func numbers(_ body: @escaping (Numbers, Int, (Int) -> Void) async throws -> Void) -> (Int) -> Int {
  wait { count, add in try await body((0..<count).async, count, add) }
}

private func addChains(to all: inout Pipelines) {
  all.add("source alone", numbers { source, _, add in for await value in source { add(value) } })
  all.add(
    "map.filter.map",
    numbers { source, _, add in
      let (triple, isEven, increment) = (work.triple, work.isEven, work.increment)
      for await value in source.map({ triple($0) }).filter({ isEven($0) }).map({ increment($0) }) { add(value) }
    })
  all.add(
    "8 maps",
    numbers { source, _, add in
      let (triple, increment) = (work.triple, work.increment)
      let four = source.map { triple($0) }.map { increment($0) }.map { triple($0) }.map { increment($0) }
      let eight = four.map { triple($0) }.map { increment($0) }.map { triple($0) }.map { increment($0) }
      for await value in eight { add(value) }
    })
  all.add(
    "scan x3",
    numbers { source, _, add in
      let combine = work.add
      let chain = source.reductions(0) { combine($0, $1) }.reductions(0) { combine($0, $1) }
        .reductions(0) { combine($0, $1) }
      for await value in chain { add(value) }
    })
  all.add(
    "removeDuplicates x3",
    numbers { source, _, add in
      let same = work.same
      let chain = source.removeDuplicates { same($0, $1) }.removeDuplicates { same($0, $1) }
        .removeDuplicates { same($0, $1) }
      for await value in chain { add(value) }
    })
  all.add(
    "prefix x3",
    numbers { source, count, add in
      for await value in source.prefix(count).prefix(count).prefix(count) { add(value) }
    })
  all.add(
    "16 mixed",
    numbers { source, count, add in
      let (triple, combine, isAny, same) = (work.triple, work.add, work.isAny, work.same)
      let (any, isNone) = (work.any, work.isNone)
      let four = source.map { triple($0) }.reductions(0) { combine($0, $1) }.filter { isAny($0) }
        .removeDuplicates { same($0, $1) }
      let eight = four.compactMap { any($0) }.prefix(count).dropFirst(3).drop { isNone($0) }
      let twelve = eight.map { triple($0) }.reductions(0) { combine($0, $1) }.filter { isAny($0) }
        .removeDuplicates { same($0, $1) }
      for await value in twelve.compactMap({ any($0) }).prefix(count).dropFirst(3).drop(while: { isNone($0) }) {
        add(value)
      }
    })
  all.add(
    "tryMap.mapError",
    numbers { source, _, add in
      let triple = work.tripleOrThrow
      for try await value in source.map({ try triple($0) }) { add(value) }
    })
  all.add(
    "elements with a reference count",
    numbers { source, _, add in
      let (pick, isShared, pass, unpick) = (work.pick, work.isShared, work.pass, work.unpick)
      for await value in source.map({ pick($0) }).filter({ isShared($0) }).map({ pass($0) }).map({ unpick($0) }) {
        add(value)
      }
    })
  all.add(
    "elements of 128 bytes",
    numbers { source, _, add in
      let (widen, isLarge, shift, narrow) = (work.widen, work.isLarge, work.shift, work.narrow)
      for await value in source.map({ widen($0) }).filter({ isLarge($0) }).map({ shift($0) }).map({ narrow($0) }) {
        add(value)
      }
    })
}

private func addCombining(to all: inout Pipelines) {
  all.add(
    "a subject to 1", .subject,
    wait { count, add in
      let channel = AsyncChannel<Int>()
      Task {
        for number in 0..<count { await channel.send(number) }
        channel.finish()
      }
      for await value in channel { add(value) }
    })
  all.add(
    "flatMap of Just", .combining,
    numbers { source, _, add in
      let triple = work.triple
      for await value in source.flatMap({ CollectionOfOne(triple($0)).async }) { add(value) }
    })
  all.add(
    "flatMap of sequences of 10", .combining,
    wait { count, add in
      for await value in (0..<count / 10).async.flatMap({ _ in (0..<10).async }) { add(value) }
    })
  all.add(
    "zip of two subjects", .combining,
    wait { count, add in
      let combine = work.add
      for await (left, right) in zip((0..<count / 2).async, (0..<count / 2).async) { add(combine(left, right)) }
    })
  all.add(
    "merge of two subjects", .combining,
    wait { count, add in
      for await value in merge((0..<count / 2).async, (0..<count / 2).async) { add(value) }
    })
  all.add(
    "buffer", .combining,
    numbers { source, _, add in
      for await value in source.buffer(policy: .bounded(10)) { add(value) }
    })
}

private func addOperators(to all: inout Pipelines) {
  all.add(
    "map",
    numbers { source, _, add in
      let triple = work.triple
      for await value in source.map({ triple($0) }) { add(value) }
    })
  all.add(
    "filter",
    numbers { source, _, add in
      let isEven = work.isEven
      for await value in source.filter({ isEven($0) }) { add(value) }
    })
  all.add(
    "compactMap",
    numbers { source, _, add in
      let some = work.some
      for await value in source.compactMap({ some($0) }) { add(value) }
    })
  all.add(
    "scan",
    numbers { source, _, add in
      let combine = work.add
      for await value in source.reductions(0, { combine($0, $1) }) { add(value) }
    })
  all.add(
    "removeDuplicates",
    numbers { source, _, add in
      let same = work.same
      for await value in source.removeDuplicates(by: { same($0, $1) }) { add(value) }
    })
  all.add("prefix", numbers { source, count, add in for await value in source.prefix(count) { add(value) } })
  all.add("dropFirst", numbers { source, _, add in for await value in source.dropFirst(3) { add(value) } })
  all.add(
    "prefix(while:)",
    numbers { source, _, add in
      let isAny = work.isAny
      for await value in source.prefix(while: { isAny($0) }) { add(value) }
    })
  all.add(
    "drop(while:)",
    numbers { source, _, add in
      let isNone = work.isNone
      for await value in source.drop(while: { isNone($0) }) { add(value) }
    })
  all.add(
    "append",
    wait { count, add in
      for await value in chain((0..<count / 2).async, (0..<count / 2).async) { add(value) }
    })
  all.add(
    "collect(3)",
    numbers { source, _, add in for await value in source.chunks(ofCount: 3) { add(value.count) } })
  all.add(
    "reduce",
    numbers { source, _, add in
      let combine = work.add
      add(await source.reduce(0) { combine($0, $1) })
    })
  all.add(
    "contains(where:)",
    numbers { source, _, add in
      let isNone = work.isNone
      add(await source.contains { isNone($0) } ? 1 : 0)
    })
  all.add(
    "allSatisfy",
    numbers { source, _, add in
      let isAny = work.isAny
      add(await source.allSatisfy { isAny($0) } ? 1 : 0)
    })
  all.add(
    "max",
    numbers { source, _, add in
      let less = work.less
      if let value = await source.max(by: { less($0, $1) }) { add(value) }
    })
}
