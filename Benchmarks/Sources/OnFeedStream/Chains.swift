import Harness

#if ON_OPENCOMBINE
  import OpenCombine
#else
  import FeedStream
#endif

/// Adds whole pipelines, and the cost of a subscription.
func addChains(to all: inout Pipelines) {
  all.add("source alone", numbers { source, _, add in source.sink(receiveValue: add) })
  all.add(
    "map.filter.map",
    numbers { source, _, add in
      source.map(work.triple).filter(work.isEven).map(work.increment).sink(receiveValue: add)
    })
  all.add(
    "map.filter.map, written in place",
    numbers { source, _, add in
      source.map { $0 &* 3 }.filter { $0 & 1 == 0 }.map { $0 &+ 1 }.sink { add($0) }
    })
  all.add(
    "8 maps",
    numbers { source, _, add in
      let four = source.map(work.triple).map(work.increment).map(work.triple).map(work.increment)
      return four.map(work.triple).map(work.increment).map(work.triple).map(work.increment).sink(receiveValue: add)
    })
  all.add(
    "scan x3",
    numbers { source, _, add in
      source.scan(0, work.add).scan(0, work.add).scan(0, work.add).sink(receiveValue: add)
    })
  all.add(
    "removeDuplicates x3",
    numbers { source, _, add in
      source.removeDuplicates(by: work.same).removeDuplicates(by: work.same).removeDuplicates(by: work.same)
        .sink(receiveValue: add)
    })
  all.add(
    "prefix x3",
    numbers { source, count, add in
      source.prefix(count).prefix(count).prefix(count).sink(receiveValue: add)
    })
  all.add(
    "2 mixed",
    numbers { source, _, add in source.map(work.triple).scan(0, work.add).sink(receiveValue: add) })
  all.add(
    "4 mixed",
    numbers { source, _, add in
      source.map(work.triple).scan(0, work.add).filter(work.isAny).removeDuplicates(by: work.same)
        .sink(receiveValue: add)
    })
  all.add(
    "8 mixed",
    numbers { source, count, add in
      let four = source.map(work.triple).scan(0, work.add).filter(work.isAny).removeDuplicates(by: work.same)
      return four.compactMap(work.any).prefix(count).dropFirst(3).drop(while: work.isNone).sink(receiveValue: add)
    })
  all.add(
    "16 mixed",
    numbers { source, count, add in
      let four = source.map(work.triple).scan(0, work.add).filter(work.isAny).removeDuplicates(by: work.same)
      let eight = four.compactMap(work.any).prefix(count).dropFirst(3).drop(while: work.isNone)
      let twelve = eight.map(work.triple).scan(0, work.add).filter(work.isAny).removeDuplicates(by: work.same)
      return twelve.compactMap(work.any).prefix(count).dropFirst(3).drop(while: work.isNone).sink(receiveValue: add)
    })
  all.add(
    "16 mixed, another order",
    numbers { source, count, add in
      let four = source.dropFirst(3).prefix(count).removeDuplicates(by: work.same).scan(0, work.add)
      let eight = four.drop(while: work.isNone).compactMap(work.any).filter(work.isAny).map(work.triple)
      let twelve = eight.prefix(count).dropFirst(3).scan(0, work.add).removeDuplicates(by: work.same)
      return twelve.compactMap(work.any).filter(work.isAny).drop(while: work.isNone).map(work.triple)
        .sink(receiveValue: add)
    })
  all.add(
    "16 mixed, erased 3 times",
    numbers { source, count, add in
      let four = source.map(work.triple).scan(0, work.add).filter(work.isAny).removeDuplicates(by: work.same)
        .eraseToAnyPublisher()
      let eight = four.compactMap(work.any).prefix(count).dropFirst(3).drop(while: work.isNone).eraseToAnyPublisher()
      let twelve = eight.map(work.triple).scan(0, work.add).filter(work.isAny).removeDuplicates(by: work.same)
        .eraseToAnyPublisher()
      return twelve.compactMap(work.any).prefix(count).dropFirst(3).drop(while: work.isNone).sink(receiveValue: add)
    })
  all.add(
    "map.filter.map, erased 3 times",
    numbers { source, _, add in
      source.map(work.triple).eraseToAnyPublisher().filter(work.isEven).eraseToAnyPublisher().map(work.increment)
        .eraseToAnyPublisher().sink(receiveValue: add)
    })
  all.add(
    "tryMap.mapError",
    numbers { source, _, add in
      source.tryMap(work.tripleOrThrow).mapError { _ in Refusal.refused }
        .sink(receiveCompletion: { _ in }, receiveValue: add)
    })
  all.add(
    "elements with a reference count",
    numbers { source, _, add in
      source.map(work.pick).filter(work.isShared).map(work.pass).map(work.unpick).sink(receiveValue: add)
    })
  all.add(
    "elements of 128 bytes",
    numbers { source, _, add in
      source.map(work.widen).filter(work.isLarge).map(work.shift).map(work.narrow).sink(receiveValue: add)
    })
  all.add("one by one") { count in
    let total = Total()
    Numbers(count: count).map(work.triple).filter(work.isAny).subscribe(OneByOne(total.add))
    return total.value
  }
  all.add("subscribe and cancel a chain of 3", .lifecycle) { count in
    let total = Total()
    let subject = Numeric()
    for _ in 0..<count {
      subject.map(work.triple).filter(work.isEven).map(work.increment).sink(receiveValue: total.add).cancel()
    }
    return total.value
  }
  all.add("subscribe and cancel a chain of 3, written in place", .lifecycle) { count in
    let total = Total()
    let subject = Numeric()
    for _ in 0..<count {
      subject.map { $0 &* 3 }.filter { $0 & 1 == 0 }.map { $0 &+ 1 }.sink { total.add($0) }.cancel()
    }
    return total.value
  }
  all.add("subscribe and cancel a stateful chain of 3, written in place", .lifecycle) { count in
    let total = Total()
    let subject = Numeric()
    for _ in 0..<count {
      subject.scan(0) { $0 &+ $1 }.removeDuplicates().prefix(3).sink { total.add($0) }.cancel()
    }
    return total.value
  }
  all.add("subscribe and cancel a stateful chain of 3", .lifecycle) { count in
    let total = Total()
    let subject = Numeric()
    for _ in 0..<count {
      subject.scan(0, work.add).removeDuplicates(by: work.same).prefix(3).sink(receiveValue: total.add).cancel()
    }
    return total.value
  }
}
