import Harness

#if ON_OPENCOMBINE
  import OpenCombine
#else
  import FeedStream
#endif

/// Adds subjects, and pipelines that combine several sources.
func addCombining(to all: inout Pipelines) {
  all.add("a subject to 1", .subject, prepare: sent(toSubscribers: 1))
  all.add("a subject to 100", .subject, prepare: sent(toSubscribers: 100))
  all.add("a subject to 10000", .subject, prepare: sent(toSubscribers: 10_000))
  all.add("a current value subject", .subject) { count in
    let total = Total()
    let subject = CurrentValueSubject<Int, Never>(0)
    let subscription = subject.sink(receiveValue: total.add)
    for number in 0..<count { subject.send(number) }
    subscription.cancel()
    return total.value
  }
  all.add(
    "subject.map.filter", .subject,
    sent { subject, add in subject.map(work.triple).filter(work.isEven).sink(receiveValue: add) })
  all.add(
    "flatMap of Just", .combining,
    numbers { source, _, add in
      let triple = work.triple
      return source.flatMap { Just(triple($0)) }.sink(receiveValue: add)
    })
  all.add(
    "flatMap of sequences of 10", .combining,
    numbers { _, count, add in
      Numbers(count: count / 10).flatMap { _ in (0..<10).publisher }.sink(receiveValue: add)
    })
  all.add(
    "flatMap of publishers of 10", .combining,
    numbers { _, count, add in
      Numbers(count: count / 10).flatMap { _ in Numbers(count: 10) }.sink(receiveValue: add)
    })
  all.add(
    "switchToLatest of sequences of 10", .combining,
    numbers { _, count, add in
      Numbers(count: count / 10).map { _ in (0..<10).publisher }.switchToLatest().sink(receiveValue: add)
    })
  all.add(
    "switchToLatest of publishers of 10", .combining,
    numbers { _, count, add in
      Numbers(count: count / 10).map { _ in Numbers(count: 10) }.switchToLatest().sink(receiveValue: add)
    })
  all.add(
    "zip of two subjects", .combining,
    sentToTwo { left, right, add in
      let sum = work.add
      return left.zip(right).sink { add(sum($0, $1)) }
    })
  #if !ON_OPENCOMBINE
    // OpenCombine has neither of these.
    all.add(
      "combineLatest of two subjects", .combining,
      sentToTwo { left, right, add in
        let sum = work.add
        return left.combineLatest(right).sink { add(sum($0, $1)) }
      })
    all.add(
      "merge of two subjects", .combining,
      sentToTwo { left, right, add in left.merge(with: right).sink(receiveValue: add) })
  #endif
  all.add(
    "buffer", .combining,
    numbers { source, count, add in
      source.buffer(size: count, prefetch: .byRequest, whenFull: .dropOldest).sink(receiveValue: add)
    })
}
