import FeedStream
import TestSupport
import Testing

@Suite("drop, prefix, ignoreOutput, replaceEmpty", .settled) struct FilteringTests {
  let time = MarbleTime()

  @Test func `dropFirst asks for what it drops on top of what it is asked for`() {
    let recorder = (1...9).map { $0 }.publisher.eraseToAnyPublisher().dropFirst(3).record(on: time, asking: .max(2))
    #expect(recorder.values == [4, 5])
  }

  @Test func `a subscriber that cancels upon its subscription gets nothing from dropFirst`() {
    let recorder = CancelAtOnce<Int, Never>()
    [1, 2, 3].publisher.eraseToAnyPublisher().dropFirst().subscribe(recorder)
    #expect(!recorder.hasReceived)
  }

  @Test func `dropping a negative number traps`() async {
    await #expect(processExitsWith: .failure) {
      _ = PassthroughSubject<Int, Never>().dropFirst(-1).sink { _ in }
    }
  }

  @Test func `drop while delivers from the first value that does not hold`() {
    let recorder = time.cold("abcab|").drop { $0 < "c" }.record(on: time)
    time.advance(by: 6)
    #expect(recorder.marbles == "--cab|")
  }

  @Test func `a million values dropped one by one keep the stack flat`() {
    let numbers = (0..<1_000_000).publisher.eraseToAnyPublisher()
    #expect(numbers.drop { $0 < 999_999 }.pulled(.requesting) == 1)
    #expect(numbers.drop { _ in false }.pulled(.requesting) == 1_000_000)
  }

  @Test func `prefix while finishes at the first value that does not hold`() {
    let recorder = time.cold("abcab|").prefix { $0 < "c" }.record(on: time)
    time.advance(by: 6)
    #expect(recorder.marbles == "ab|")
  }

  @Test func `tryPrefix fails with what its predicate throws`() {
    let recorder = time.cold("abc|").tryPrefix { $0 < "b" ? true : try { throw Boom() }() }.record(on: time)
    time.advance(by: 4)
    #expect(recorder.marbles == "a#")
  }

  @Test func `drop until output begins with the trigger`() {
    let recorder = time.hot("abcd|").drop(untilOutputFrom: time.hot("-x-")).record(on: time)
    time.advance(by: 5)
    #expect(recorder.marbles == "--cd|")
  }

  @Test(arguments: [false, true])
  func `the publisher that opens a drop is cancelled with the stream, though it goes on`(ends: Bool) {
    let ticks = Publishers.Interval(every: 1, scheduler: time)
    let upstream = PassthroughSubject<Int, Never>()
    let recorder = upstream.drop(untilOutputFrom: ticks).record(on: time)
    time.advance(by: 3)
    upstream.send(1)
    #expect(recorder.values == [1])
    if ends { upstream.send(completion: .finished) } else { recorder.cancel() }
    #expect(time.waiting == 0)
  }

  @Test func `drop until output ends once when the trigger ends without a value`() {
    let recorder = time.hot("ab|").drop(untilOutputFrom: time.hot("-|")).record(on: time)
    time.advance(by: 5)
    #expect(recorder.marbles == "-|")
  }

  @Test func `prefix until output ends with the trigger`() {
    let recorder = time.hot("abcd|").prefix(untilOutputFrom: time.hot("--x")).record(on: time)
    time.advance(by: 5)
    #expect(recorder.marbles == "ab(c|)")
  }

  @Test func `a trigger that fires before upstream accepts still has a subscription go before the ending`() {
    let recorder = [1].publisher.eraseToAnyPublisher().prefix(untilOutputFrom: Just(0)).record(on: time)
    #expect(recorder.subscription != nil)
    #expect(recorder.marbles == "|")
  }

  @Test func `ignoreOutput delivers the ending alone`() {
    let recorder = time.cold("ab#").ignoreOutput().record(on: time, asking: .none)
    time.advance(by: 3)
    #expect(recorder.marbles == "--#")
  }

  @Test func `replaceEmpty fills in for a stream without values, when asked`() {
    let empty = time.cold("-|").replaceEmpty(with: "z").record(on: time, asking: .none)
    let full = time.cold("a|").replaceEmpty(with: "z").record(on: time)
    time.advance(by: 2)
    #expect(empty.marbles == "")
    empty.request(.max(1))
    #expect(empty.marbles == "--(z|)")
    #expect(full.marbles == "a|")
  }

  @Test func `replaceEmpty never delivers more than was asked for`() {
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.replaceEmpty(with: 0).record(on: time, asking: .max(1))
    for value in 1...3 { subject.send(value) }
    #expect(recorder.values == [1])
  }
}

private final class CancelAtOnce<Input, Failure: Error>: Subscriber {
  private(set) var hasReceived = false

  func receive(subscription: any Subscription) {
    subscription.request(.unlimited)
    subscription.cancel()
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    hasReceived = true
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) { hasReceived = true }
}
