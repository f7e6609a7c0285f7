import Harness

#if ON_OPENCOMBINE
  import OpenCombine
#else
  import FeedStream
#endif

/// Adds every operator alone, between the numbers and a sum.
func addOperators(to all: inout Pipelines) {
  addStateless(to: &all)
  addStateful(to: &all)
  addReducing(to: &all)
}

private func addStateless(to all: inout Pipelines) {
  all.add("map", .stateless, numbers { source, _, add in source.map(work.triple).sink(receiveValue: add) })
  all.add("filter", .stateless, numbers { source, _, add in source.filter(work.isEven).sink(receiveValue: add) })
  all.add("compactMap", .stateless, numbers { source, _, add in source.compactMap(work.some).sink(receiveValue: add) })
  all.add(
    "replaceNil", .stateless,
    numbers { source, _, add in source.map(work.some).replaceNil(with: 1).sink(receiveValue: add) })
  all.add(
    "setFailureType", .passing,
    numbers { source, _, add in
      source.setFailureType(to: Refusal.self).sink(receiveCompletion: { _ in }, receiveValue: add)
    })
  all.add(
    "mapError", .passing,
    fallible { source, add in
      source.mapError { _ in Refusal.refused }.sink(receiveCompletion: { _ in }, receiveValue: add)
    })
  all.add(
    "tryMap", .stateful,
    numbers { source, _, add in
      source.tryMap(work.tripleOrThrow).sink(receiveCompletion: { _ in }, receiveValue: add)
    })
  all.add(
    "handleEvents", .stateful,
    numbers { source, _, add in source.handleEvents(receiveOutput: work.note).sink(receiveValue: add) })
  all.add(
    "replaceError", .stateful,
    fallible { source, add in source.replaceError(with: 0).sink(receiveValue: add) })
  all.add(
    "catch", .stateful,
    fallible { source, add in source.catch { _ in Just(0) }.sink(receiveValue: add) })
  all.add(
    "retry", .stateful,
    fallible { source, add in source.retry(3).sink(receiveCompletion: { _ in }, receiveValue: add) })
  all.add(
    "assertNoFailure", .passing,
    fallible { source, add in source.assertNoFailure().sink(receiveValue: add) })
}

private func addStateful(to all: inout Pipelines) {
  all.add("scan", .stateful, numbers { source, _, add in source.scan(0, work.add).sink(receiveValue: add) })
  all.add(
    "removeDuplicates", .stateful,
    numbers { source, _, add in source.removeDuplicates(by: work.same).sink(receiveValue: add) })
  all.add("prefix", .stateful, numbers { source, count, add in source.prefix(count).sink(receiveValue: add) })
  all.add("dropFirst", .stateful, numbers { source, _, add in source.dropFirst(3).sink(receiveValue: add) })
  all.add(
    "prefix(while:)", .stateful,
    numbers { source, _, add in source.prefix(while: work.isAny).sink(receiveValue: add) })
  all.add(
    "drop(while:)", .stateful,
    numbers { source, _, add in source.drop(while: work.isNone).sink(receiveValue: add) })
  all.add(
    "output(in:)", .stateful,
    numbers { source, count, add in source.output(in: 3..<count).sink(receiveValue: add) })
  all.add(
    "prefix(untilOutputFrom:)", .stateful,
    numbers { source, _, add in source.prefix(untilOutputFrom: Numeric()).sink(receiveValue: add) })
  all.add("replaceEmpty", .stateful, numbers { source, _, add in source.replaceEmpty(with: 0).sink(receiveValue: add) })
  all.add(
    "append", .stateful,
    numbers { source, count, add in
      Numbers(count: count / 2).append(Numbers(count: count / 2)).sink(receiveValue: add)
    })
  all.add("prepend", .stateful, numbers { source, _, add in source.prepend(Just(1)).sink(receiveValue: add) })
  all.add("share", .subject, sent { subject, add in subject.share().sink(receiveValue: add) })
  all.add(
    "makeConnectable.autoconnect", .stateful,
    numbers { source, _, add in source.makeConnectable().autoconnect().sink(receiveValue: add) })
}

private func addReducing(to all: inout Pipelines) {
  all.add("collect(3)", .grouping, numbers { source, _, add in source.collect(3).sink { add($0.count) } })
  all.add("reduce", .reducing, numbers { source, _, add in source.reduce(0, work.add).sink(receiveValue: add) })
  all.add("count", .reducing, numbers { source, _, add in source.count().sink(receiveValue: add) })
  all.add("max", .reducing, numbers { source, _, add in source.max(by: work.less).sink(receiveValue: add) })
  all.add(
    "last(where:)", .reducing, numbers { source, _, add in source.last(where: work.isAny).sink(receiveValue: add) })
  all.add(
    "first(where:)", .reducing, numbers { source, _, add in source.first(where: work.isNone).sink(receiveValue: add) })
  all.add(
    "contains(where:)", .reducing,
    numbers { source, _, add in source.contains(where: work.isNone).sink { add($0 ? 1 : 0) } })
  all.add(
    "allSatisfy", .reducing,
    numbers { source, _, add in source.allSatisfy(work.isAny).sink { add($0 ? 1 : 0) } })
  all.add(
    "ignoreOutput", .reducing,
    numbers { source, _, add in source.ignoreOutput().sink { _ in add(1) } })
}
