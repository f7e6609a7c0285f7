import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ScriptedPublisherTests {
  let time = VirtualTimeScheduler()

  @Test func `a cold script starts again for each subscriber, and waits for demand`() {
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("12|")
    let first = source.record(on: time)
    time.advance(by: 1)
    let second = source.record(on: time, demand: .none)
    time.run()
    #expect(first.values == [1, 2])
    #expect(second.events.isEmpty)
    second.request(.max(2))
    #expect(second.values == [1, 2])
    #expect(second.completion == .finished)
  }

  @Test func `a hot script runs without subscribers or demand`() {
    let source: ScriptedPublisher<Int, MarbleFailure> = time.hot("12-3|")
    time.advance(by: 0.0005)
    let eager = source.record(on: time)
    let lazy = source.record(on: time, demand: DemandScript(initial: .max(1)))
    time.run()
    let late = source.record(on: time)
    #expect(eager.values == [2, 3])
    #expect(lazy.values == [2])
    #expect(source.subscriptions[1].dropped == 1)
    #expect(late.values.isEmpty && late.completion == .finished)
  }

  @Test func `a script's log has the times of requests and cancellations`() {
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("12345|")
    time.advance(by: 1)
    let recorder = source.record(
      on: time, demand: DemandScript(initial: .max(1), later: [.init(after: 0.002, .max(1))]))
    time.advance(by: 0.003)
    recorder.cancel()
    #expect(
      "\(source.subscriptions[0])"
        == "subscribed at 1s, requested 1 at 1s, requested 1 at 1.002s, received 2, cancelled at 1.003s")
    #expect(time.pending.isEmpty)
  }

  /// Retains its subscription until it is released itself, as Combine's documentation shows.
  private final class Keeper: Subscriber {
    typealias Input = Int
    typealias Failure = MarbleFailure
    private(set) var subscription: (any Subscription)?

    func receive(subscription: any Subscription) {
      self.subscription = subscription
      subscription.request(.unlimited)
    }
    func receive(_ input: Int) -> Subscribers.Demand { .none }
    func receive(completion: Subscribers.Completion<MarbleFailure>) {}
  }

  @Test(arguments: ["-1-2|", "-1-2"], [true, false])
  func `a script doesn't retain its subscriber after its events or a cancellation`(script: String, cancels: Bool) {
    weak var subscriber: Keeper?
    do {
      let source: ScriptedPublisher<Int, MarbleFailure> = time.cold(script)
      let keeper = Keeper()
      subscriber = keeper
      source.subscribe(keeper)
      time.advance(by: 0.002)
      if cancels { keeper.subscription?.cancel() }
      time.advance(by: 1)
    }
    #expect(subscriber == nil)
  }

  @Test func `a script with decreasing times fails`() {
    let failures = failures {
      _ = ScriptedPublisher<Int, Never>(.cold, [(2, .value(1)), (1, .value(2))], on: time)
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(failures[0].message.contains("Time goes back in this script: 2 at 1s comes after 1 at 2s"))
  }

  @Test func `an impossible script fails on its line`() {
    typealias Source = ScriptedPublisher<Int, MarbleFailure>
    let failures = failures {
      _ = Source(.cold, [(1, .completion(.finished)), (2, .value(7))], on: time)
      _ = Source(.cold, [(2, .value(7)), (1, .value(8))], on: time)
      _ = Source(.synchronous, [(-1, .value(7))], on: time)
      let _: Source = time.cold("1^2|")
      let _: Source = time.hot("1^2|")
    }
    time.run()
    let linesAbove = failures.map { UInt(#line) - $0.line }
    #expect(linesAbove == [7, 6, 5, 4])
    #expect(failures[0].message.hasPrefix("This script continues after its completion: 7 comes after finished"))
    #expect(failures[1].message.hasPrefix("Time goes back in this script: 8 at 1s comes after 7 at 2s"))
    #expect(failures[2].message.hasPrefix("This script begins in the past: 7 at -1s"))
    #expect(failures[3].message.contains("1 at -1ms") && failures[3].message.contains("without ^"))
  }

  @Test func `returned demand is added to a script's requests in its log`() {
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("123|")
    let recorder = source.record(on: time, demand: .oneByOne)
    time.run()
    #expect(recorder.values == [1, 2, 3])
    #expect(source.subscriptions[0].demand == .max(4))
    #expect(
      "\(source.subscriptions[0])"
        == "subscribed at 0s, requested 1 at 0s, returned demand for 3 more, received 3, ended at 3ms")
  }

  @Test func `a diagram's values are strings by default`() {
    let typing = time.hot("a-b#")
    let recorder = typing.record(on: time)
    time.run()
    #expect(recorder.values == ["a", "b"])
    #expect(recorder.completion == .failure(MarbleFailure()))
  }

  @Test func `the values' type is explicit, or inferred from names or use`() {
    let numbers = time.cold("1-2|", of: Int.self)
    let prices = time.cold("x|", values: ["x": 9.5])
    let letters: ScriptedPublisher<Character, MarbleFailure> = time.cold("a|")
    expectMarbles(numbers.map { $0 + 1 }, on: time, "2-3|")
    expectMarbles(prices, on: time, "p|", values: ["p": 9.5])
    expectMarbles(letters, on: time, "a|")
    expectMarbles(time.cold("a-b|").merge(with: time.cold("-c-|")), on: time, "acb|")
  }

  @Test func `a scripted publisher can have the failure type Never`() {
    let ticks: ScriptedPublisher<Int, Never> = time.hot("-1-2-|")
    let ends = time.cold("a-b-c-d|").prefix(untilOutputFrom: time.cold("---x") as ScriptedPublisher<String, Never>)
    let sampled = time.hot("-ab-c---|").sample(on: time.hot("---x-x-|"))
    let recorder = ticks.record(on: time)
    let ending = ends.record(on: time)
    let sampling = sampled.record(on: time)
    time.run()
    recorder.expect("-1-2-|")
    ending.expect("a-b|")
    sampling.expect("---b-c-|")
    let failures = failures { let _: ScriptedPublisher<Int, Never> = time.hot("-1-#") }
    #expect(failures.map(\.line) == [#line - 1])
    #expect(failures[0].message.hasSuffix("\n     ^ this stream's Failure is Never; remove the #"))
  }

  @Test func `a scripted publisher can fail with the test's own error`() {
    struct Trouble: Error, Equatable {}
    expectMarbles(time.cold("a-#", failure: Trouble()), on: time, "a-#", failure: Trouble())
    let names: [Character: Int] = ["a": 10]
    let source: ScriptedPublisher<Int, Trouble> = time.cold("a-1|", values: names)
    expectMarbles(source, on: time, "a-1|", values: names)
  }
}
