import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite("Invalid arguments trap with a message that says what to use", .settled) struct BadInputTests {
  @Test func `buffer with prefetch .keepFull and size 0 traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = [1].publisher.buffer(size: 0, prefetch: .keepFull, whenFull: .dropNewest).sink { _ in }
    }
    #expect(
      result?.says("buffer(size: 0, prefetch: .keepFull): there is no room for a value; use 1 or more") == true)
  }

  @Test func `buffer with a negative size traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = [1].publisher.buffer(size: -1, prefetch: .byRequest, whenFull: .dropNewest)
    }
    #expect(result?.says("buffer(size: -1): the size cannot be negative") == true)
  }

  @Test func `buffer(count: 0) traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = [1].publisher.buffer(count: 0)
    }
    #expect(result?.says("buffer(count: 0): an array needs at least 1 value; use 1 or more") == true)
  }

  @Test func `output(at:) with a negative index traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PassthroughSubject<Int, Never>().output(at: -1)
    }
    #expect(result?.says("output(at: -1): an index cannot be negative; use 0 or more") == true)
  }

  @Test func `output(in:) with negative indices traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PassthroughSubject<Int, Never>().output(in: -3 ... -1)
    }
    #expect(result?.says("output(in: -3...-1): an index cannot be negative; use 0 or more") == true)
  }

  @Test func `output(in:) with a negative upper bound traps`() async {
    let through = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PassthroughSubject<Int, Never>().output(in: ...(-1))
    }
    #expect(through?.says("output(in: -1..<0): an index cannot be negative; use 0 or more") == true)
    let upTo = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Optional(1).publisher.output(in: ..<(-1))
    }
    #expect(upTo?.says("output(in: -1..<-1): an index cannot be negative; use 0 or more") == true)
  }

  @Test func `retry with a negative number of attempts traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PassthroughSubject<Int, Boom>().retry(-1)
    }
    #expect(result?.says("retry(-1): the number of retries cannot be negative") == true)
  }

  @Test func `ReplaySubject with a negative count traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PassthroughSubject<Int, Never>().share(replay: -1)
    }
    #expect(result?.says("share(replay: -1): the number of values cannot be negative; use 0 or more") == true)
  }

  @Test func `sample(every: 0) traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Just(1).sample(every: 0, scheduler: VirtualTimeScheduler())
    }
    #expect(result?.says("sample(every:") == true)
  }

  @Test func `window(for: 0) traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Just(1).window(for: 0, scheduler: VirtualTimeScheduler())
    }
    #expect(result?.says("window(for:") == true)
  }

  @Test func `Publishers.Window with a count of 0 traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Publishers.Window(upstream: Just(1), trigger: Just(1), count: 0)
    }
    #expect(result?.says("window(0): a window of that size never fills; use 1 or more") == true)
  }

  @Test func `scheduling on another thread's run loop traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          nonisolated(unsafe) let mine = RunLoop.current
          Thread.detachNewThread { _ = Just(1).receive(on: mine).sink { _ in } }
          while true { Thread.sleep(forTimeInterval: 60) }
        }
      }
    }
    #expect(result?.says("RunLoop: this is another thread's run loop") == true)
  }

  @Test func `output(in:) accepts every kind of valid range`() {
    let numbers = [0, 1, 2, 3, 4].publisher.filter { _ in true }
    func values(_ range: some RangeExpression<Int>) -> [Int] {
      numbers.output(in: range).record().values
    }
    #expect(values(...2) == [0, 1, 2])
    #expect(values(..<0) == [])
    #expect(values(3...) == [3, 4])
    #expect(values(1...1) == [1])
    #expect(values(7..<9) == [])
    #expect(values(3...Int.max) == [3, 4])
    #expect(values(...Int.max) == [0, 1, 2, 3, 4])
    #expect(numbers.eraseToAnyPublisher().output(at: Int.max).record().values == [])
    #expect(Just(1).output(in: 0...Int.max).output == 1)
    #expect(Optional(1).publisher.output(in: ...Int.max).output == 1)
  }
}
