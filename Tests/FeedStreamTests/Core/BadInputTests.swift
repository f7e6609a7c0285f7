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
  }
}
