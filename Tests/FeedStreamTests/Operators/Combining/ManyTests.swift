import FeedStream
import TestSupport
import Testing

@Suite("withLatestFrom, race, and zip, combineLatest, merge of many", .settled) struct ManyTests {
  let time = MarbleTime()

  @Test func `withLatestFrom pairs each value with the newest of the other`() {
    let recorder = time.hot("a-b-c|").withLatestFrom(time.hot("-1-2-")) { "\($0)\($1)" }.record(on: time)
    time.advance(by: 6)
    #expect(recorder.values == ["b1", "c2"])
    #expect(recorder.completion == .finished)
  }

  @Test func `withLatestFrom asks again for what it leaves out`() {
    let other = CurrentValueSubject<Int, Never>(7)
    let recorder = [1, 2].publisher.withLatestFrom(other, +).record(on: time, asking: .max(1))
    #expect(recorder.values == [8])
    let never = PassthroughSubject<Int, Never>()
    let left = [1, 2].publisher.withLatestFrom(never, +).record(on: time, asking: .max(1))
    #expect(left.values.isEmpty)
    #expect(left.completion == .finished)
  }

  @Test func `withLatestFrom keeps the last value of an other that has finished`() {
    #expect([1, 2].publisher.withLatestFrom(Just(5), +).record(on: time).values == [6, 7])
  }

  @Test func `withLatestFrom ends with an other that has nothing, and cancels upstream`() {
    var isCancelled = false
    let upstream = PassthroughSubject<Int, Boom>()
    let other = PassthroughSubject<Int, Boom>()
    let recorder = upstream.handleEvents(receiveCancel: { isCancelled = true }).withLatestFrom(other)
      .record(on: time)
    other.send(completion: .finished)
    #expect(recorder.completion == .finished)
    #expect(isCancelled)
    let failed = upstream.withLatestFrom(Fail<Int, Boom>(error: Boom())).record(on: time)
    #expect(failed.subscription != nil)
    #expect(failed.error == Boom())
  }

  @Test func `race becomes what delivers first and cancels the other`() {
    var isCancelled = false
    let slow = time.hot("--ab|").handleEvents(receiveCancel: { isCancelled = true })
    let recorder = slow.race(with: time.hot("-1--2|")).record(on: time)
    time.advance(by: 8)
    #expect(recorder.marbles == "-1--2|")
    #expect(isCancelled)
  }

  @Test func `an ending wins a race as well`() {
    let recorder = [time.hot("--a"), time.hot("-#")].race().record(on: time)
    time.advance(by: 4)
    #expect(recorder.marbles == "-#")
    #expect([Just<Int>]().race().record(on: time).completion == .finished)
  }

  @Test func `race passes demand to all, then to the winner`() {
    let recorder = [[1, 2, 3].publisher, [4, 5].publisher].race().record(on: time, asking: .max(1))
    #expect(recorder.values == [1])
    recorder.request(.unlimited)
    #expect(recorder.values == [1, 2, 3])
  }

  @Test func `zip of a collection waits for all at the same place`() {
    let recorder = [[1, 2, 3].publisher, [4, 5].publisher].zip().record(on: time)
    #expect(recorder.values == [[1, 4], [2, 5]])
    #expect(recorder.completion == .finished)
    #expect([Just<Int>]().zip().record(on: time).completion == .finished)
  }

  @Test func `zip of a collection delivers what was asked for`() {
    let recorder = [(0..<9).publisher, (10..<19).publisher].zip().record(on: time, asking: .max(2))
    #expect(recorder.values == [[0, 10], [1, 11]])
    recorder.request(.max(1))
    #expect(recorder.values.last == [2, 12])
  }

  @Test func `a hundred thousand values zipped one by one keep the stack flat`() {
    let numbers = (0..<100_000).publisher.eraseToAnyPublisher()
    #expect([numbers, numbers, numbers].zip().pulled(.requesting) == 100_000)
    #expect([numbers, numbers].zip().pulled(.answering) == 100_000)
  }

  @Test func `combineLatest of a collection delivers once all have`() {
    let recorder = [time.hot("a--b--|"), time.hot("-1--2|")].combineLatest().record(on: time)
    time.advance(by: 8)
    #expect(recorder.values.map { String($0) } == ["a1", "b1", "b2"])
    #expect(recorder.completion == .finished)
  }

  @Test func `the first failure ends a combination and cancels the others`() {
    var cancelled = 0
    let a = PassthroughSubject<Int, Boom>()
    let b = PassthroughSubject<Int, Boom>()
    let counted = [a, b].map { $0.handleEvents(receiveCancel: { cancelled += 1 }) }
    let recorder = counted.combineLatest().record(on: time)
    a.send(completion: .failure(Boom()))
    #expect(recorder.error == Boom())
    #expect(cancelled == 1)
  }

  @Test func `zip and combineLatest take any number of publishers of different types`() {
    let zipped = zip(Just(1), Just("a"), Just(2.5), Just(true), Just(Character("z"))).record(on: time)
    #expect(zipped.values.count == 1)
    #expect(zipped.values[0] == (1, "a", 2.5, true, "z"))
    #expect(zipped.completion == .finished)
    let latest = combineLatest([1, 2].publisher, Just("a"), Just(0)).record(on: time)
    #expect(latest.values.map(\.0) == [2])
  }

  @Test func `what a subscription held is freed when it is over`() {
    weak var held: Held?
    do {
      let object = Held()
      held = object
      let cancellable = zip(Just(1).map { [object] in ($0, object) }, Just(2), Just(3)).sink { _ in }
      let other = [Just(1).map { [object] in ($0, object) }].combineLatest().sink { _ in }
      cancellable.cancel()
      other.cancel()
    }
    #expect(held == nil)
  }

  @Test func `merge takes up to eight publishers, and a collection`() {
    let many = Just(1).merge(with: Just(2), Just(3), Just(4), Just(5), Just(6), Just(7), Just(8))
    #expect(many.record(on: time).values == [1, 2, 3, 4, 5, 6, 7, 8])
    let three: Publishers.Merge3<Just<Int>, Just<Int>, Just<Int>> = Just(1).merge(with: Just(2), Just(3))
    #expect(three.record(on: time, asking: .max(2)).values == [1, 2])
    #expect([Just(1), Just(2)].merge().record(on: time).values == [1, 2])
    #expect(merge(Just(1), [2, 3].publisher, Empty()).record(on: time).values == [1, 2, 3])
    #expect([1, 2, 3].publisher.buffer(count: 2).record(on: time).values == [[1, 2], [3]])
  }
}

private final class Held {}
