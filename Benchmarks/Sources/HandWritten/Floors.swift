import Harness

/// The cost of the closures alone: loops that call what a pipeline calls, in its order, with the same results.
public func pipelines() -> [Pipeline] {
  var all = Pipelines()
  addPlain(to: &all)
  addMixed(to: &all)
  addSubjects(to: &all)
  addScrabble(to: &all)
  return all.all
}

/// Runs `body` with the closure that receives the values.
private func sum(_ body: @escaping (Int, (Int) -> Void) -> Void) -> (Int) -> Int {
  { count in
    let total = Total()
    body(count, total.add)
    return total.value
  }
}

private func addPlain(to all: inout Pipelines) {
  for name in ["source alone", "buffer", "makeConnectable.autoconnect"] {
    all.add(name, sum { count, add in for number in 0..<count { add(number) } })
  }
  for name in [
    "flatMap of publishers of 10", "switchToLatest of sequences of 10", "switchToLatest of publishers of 10",
  ] {
    all.add(name, sum { count, add in for _ in 0..<count / 10 { for number in 0..<10 { add(number) } } })
  }
  for name in ["map.filter.map", "map.filter.map, written in place", "map.filter.map, erased 3 times"] {
    all.add(
      name,
      sum { count, add in
        let (triple, isEven, increment) = (work.triple, work.isEven, work.increment)
        for number in 0..<count {
          let tripled = triple(number)
          if isEven(tripled) { add(increment(tripled)) }
        }
      })
  }
  all.add(
    "8 maps",
    sum { count, add in
      let (triple, increment) = (work.triple, work.increment)
      for number in 0..<count {
        let half = increment(triple(increment(triple(number))))
        add(increment(triple(increment(triple(half)))))
      }
    })
  all.add(
    "scan x3",
    sum { count, add in
      let combine = work.add
      var (first, second, third) = (0, 0, 0)
      for number in 0..<count {
        first = combine(first, number)
        second = combine(second, first)
        third = combine(third, second)
        add(third)
      }
    })
  all.add(
    "removeDuplicates x3",
    sum { count, add in
      let same = work.same
      var last: (Int, Int, Int)?
      for number in 0..<count {
        if let known = last, same(known.0, number) || same(known.1, number) || same(known.2, number) { continue }
        last = (number, number, number)
        add(number)
      }
    })
  all.add(
    "prefix x3",
    sum { count, add in
      var left = (count, count, count)
      for number in 0..<count where left.0 > 0 && left.1 > 0 && left.2 > 0 {
        left = (left.0 - 1, left.1 - 1, left.2 - 1)
        add(number)
      }
    })
  all.add(
    "tryMap.mapError",
    sum { count, add in
      let triple = work.tripleOrThrow
      do { for number in 0..<count { add(try triple(number)) } } catch {}
    })
  all.add(
    "elements with a reference count",
    sum { count, add in
      let (pick, isShared, pass, unpick) = (work.pick, work.isShared, work.pass, work.unpick)
      for number in 0..<count {
        let element = pick(number)
        if isShared(element) { add(unpick(pass(element))) }
      }
    })
  all.add(
    "elements of 128 bytes",
    sum { count, add in
      let (widen, isLarge, shift, narrow) = (work.widen, work.isLarge, work.shift, work.narrow)
      for number in 0..<count {
        let element = widen(number)
        if isLarge(element) { add(narrow(shift(element))) }
      }
    })
  all.add(
    "one by one",
    sum { count, add in
      let (triple, isAny) = (work.triple, work.isAny)
      for number in 0..<count {
        let tripled = triple(number)
        if isAny(tripled) { add(tripled) }
      }
    })
}

private func addMixed(to all: inout Pipelines) {
  all.add(
    "2 mixed",
    sum { count, add in
      let (triple, combine) = (work.triple, work.add)
      var state = 0
      for number in 0..<count {
        state = combine(state, triple(number))
        add(state)
      }
    })
  all.add(
    "4 mixed",
    sum { count, add in
      let (triple, combine, isAny, same) = (work.triple, work.add, work.isAny, work.same)
      var state = 0
      var last: Int?
      for number in 0..<count {
        state = combine(state, triple(number))
        guard isAny(state) else { continue }
        if let last, same(last, state) { continue }
        last = state
        add(state)
      }
    })
  all.add(
    "8 mixed",
    sum { count, add in
      var eight = EightMixed(count)
      for number in 0..<count {
        if let value = eight.next(number) { add(value) }
      }
    })
  for name in ["16 mixed", "16 mixed, erased 3 times"] {
    all.add(
      name,
      sum { count, add in
        var (first, second) = (EightMixed(count), EightMixed(count))
        for number in 0..<count {
          if let half = first.next(number), let value = second.next(half) { add(value) }
        }
      })
  }
}

/// The steps of `map.scan.filter.removeDuplicates.compactMap.prefix.dropFirst.drop(while:)`, written as plain code.
private struct EightMixed {
  private let triple = work.triple
  private let combine = work.add
  private let isAny = work.isAny
  private let same = work.same
  private let any = work.any
  private let isNone = work.isNone
  private var state = 0
  private var last: Int?
  private var left: Int
  private var toDrop = 3
  private var isDropping = true

  init(_ count: Int) { left = count }

  @inline(__always) mutating func next(_ number: Int) -> Int? {
    state = combine(state, triple(number))
    guard isAny(state) else { return nil }
    if let last, same(last, state) { return nil }
    last = state
    guard let value = any(state), left > 0 else { return nil }
    left -= 1
    if toDrop > 0 {
      toDrop -= 1
      return nil
    }
    if isDropping {
      if isNone(value) { return nil }
      isDropping = false
    }
    return value
  }
}

private func addSubjects(to all: inout Pipelines) {
  for subscribers in [1, 100, 10_000] {
    all.add(
      "a subject to \(subscribers)",
      sum { count, add in
        for number in 0..<count / subscribers {
          for _ in 0..<subscribers { add(number) }
        }
      })
  }
  all.add(
    "subject.map.filter",
    sum { count, add in
      let (triple, isEven) = (work.triple, work.isEven)
      for number in 0..<count {
        let tripled = triple(number)
        if isEven(tripled) { add(tripled) }
      }
    })
  all.add("share", sum { count, add in for number in 0..<count { add(number) } })
  all.add(
    "zip of two subjects",
    sum { count, add in
      let combine = work.add
      for number in 0..<count / 2 { add(combine(number, number)) }
    })
  all.add(
    "merge of two subjects",
    sum { count, add in
      for number in 0..<count / 2 {
        add(number)
        add(number)
      }
    })
  all.add(
    "flatMap of Just",
    sum { count, add in
      let triple = work.triple
      for number in 0..<count { add(triple(number)) }
    })
  all.add(
    "flatMap of sequences of 10",
    sum { count, add in
      for _ in 0..<count / 10 { for number in 0..<10 { add(number) } }
    })
}
