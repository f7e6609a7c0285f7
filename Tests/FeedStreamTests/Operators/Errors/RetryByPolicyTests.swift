import FeedStream
import TestSupport
import Testing

@Suite("retry by policy, retry(when:), repeat", .settled) struct RetryByPolicyTests {
  let time = MarbleTime()

  @Test func `retry waits as long as the policy says`() {
    let recorder = time.cold("a#").retry(.exponential(from: .seconds(1), limit: 3), scheduler: time).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "a-a--a----a#")
    #expect(recorder.completion == .failure(Boom()))
  }

  @Test func `retry gives up at once on an error that is not worth it`() {
    let recorder = time.cold("a#")
      .retry(.constant(.seconds(1)), scheduler: time, if: { _ in false }).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "a#")
  }

  @Test func `retry asks each subscription for what is left of the demand`() {
    let recorder = time.cold("abc#").retry(.constant(.seconds(1)), scheduler: time).record(on: time, asking: .max(4))
    time.advance(by: 5)
    #expect(recorder.marbles == "abc-a")
  }

  @Test func `cancelling in a pause subscribes no more`() {
    let recorder = time.cold("#").retry(.constant(.seconds(5)), scheduler: time).record(on: time)
    time.advance(by: 2)
    recorder.cancel()
    #expect(time.waiting == 0)
  }

  @Test func `a source that fails a hundred thousand times keeps the stack flat`() {
    var attempts = 0
    let upstream = Deferred {
      attempts += 1
      return Fail<Int, Boom>(error: Boom())
    }
    let recorder = upstream.retry(.immediate(limit: 100_000), scheduler: time).record(on: time)
    #expect(attempts == 100_001)
    #expect(recorder.completion == .failure(Boom()))
  }

  @Test func `pauses grow up to the cap`() {
    var generator = Counting()
    let policy = RetryPolicy.exponential(from: .seconds(1), cap: .seconds(10))
    let pauses = (0...6).map { policy.pause(before: $0, using: &generator) }
    #expect(pauses == [1, 2, 4, 8, 10, 10, 10].map { .seconds($0) })
    #expect(policy.pause(before: 100_000, using: &generator) == .seconds(10))
    #expect(generator.count == 0)
  }

  @Test func `jitter takes its share of a pause and no more`() {
    var generator = Counting()
    let policy = RetryPolicy.constant(.seconds(8), jitter: 0.5)
    for _ in 0..<1_000 {
      let pause = policy.pause(before: 0, using: &generator)
      #expect(pause >= .seconds(4) && pause <= .seconds(8))
    }
    #expect(generator.count >= 1_000)
  }

  @Test func `every subscriber gets the same pauses from the same seed`() {
    let publisher = time.cold("#").retry(
      .constant(.seconds(10), jitter: 1, limit: 5), scheduler: time, using: Counting())
    let first = publisher.record(on: time)
    let second = publisher.record(on: time)
    time.advance(by: 60)
    #expect(first.marbles == second.marbles)
    #expect(first.completion != nil)
  }

  @Test func `retry(when:) tries again with each value of the handler's publisher`() {
    let recorder = time.cold("a#").retry(when: { $0.delay(for: 2, scheduler: time).setFailureType(to: Boom.self) })
      .record(on: time, asking: .max(3))
    time.advance(by: 9)
    recorder.cancel()
    #expect(recorder.marbles == "a--a--a")
  }

  @Test func `retry(when:) ends as the handler's publisher does`() {
    let recorder = time.cold("a#").retry(when: { $0.delay(for: 2, scheduler: time).prefix(1) }).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "a--|")
  }

  @Test func `retry(when:) hands the handler every failure`() {
    var failures: [Boom] = []
    let recorder = time.cold("#").retry(
      when: { errors in
        errors.handleEvents(receiveOutput: { failures.append($0) }).delay(for: 1, scheduler: time)
      }
    ).record(on: time)
    time.advance(by: 3)
    recorder.cancel()
    #expect(failures.count == 4)
  }

  @Test func `repeat plays a stream so many times`() {
    let recorder = time.cold("ab|").repeat(2).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "abab|")
  }

  @Test func `repeat with a pause never overlaps itself`() {
    let recorder = time.cold("-a|").repeat(3, after: 2, scheduler: time).record(on: time)
    time.advance(by: 30)
    #expect(recorder.marbles == "-a---a---a|")
  }

  @Test func `repeating a hundred thousand times keeps the stack flat`() {
    let recorder = Just(1).repeat(100_000).record(on: time)
    #expect(recorder.values.count == 100_000)
    #expect(recorder.completion == .finished)
  }

  @Test func `repeat stops at a failure, and at once when asked for nothing`() {
    let failing = time.cold("a#").repeat().record(on: time)
    let none = time.cold("a|").repeat(0).record(on: time)
    time.advance(by: 5)
    #expect(failing.marbles == "a#")
    #expect(none.marbles == "|")
  }
}

private struct Counting: RandomNumberGenerator {
  var count: UInt64 = 0

  mutating func next() -> UInt64 {
    count += 1
    return count &* 0x9E37_79B9_7F4A_7C15
  }
}
