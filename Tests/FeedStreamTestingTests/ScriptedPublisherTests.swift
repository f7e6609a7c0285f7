import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ScriptedPublisherTests {
  let time = VirtualTimeScheduler()

  @Test func `a cold script begins afresh for each subscriber and waits for demand`() {
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

  @Test func `a hot script goes on by itself`() {
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

  @Test func `the log shows requests and cancellations with their times`() {
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("12345|")
    time.advance(by: 1)
    let recorder = source.record(
      on: time, demand: DemandScript(initial: .max(1), later: [.init(after: 0.002, .max(1))]))
    time.advance(by: 0.003)
    recorder.cancel()
    #expect(
      "\(source.subscriptions[0])"
        == "subscribed at 1s, asked for 1 at 1s, asked for 1 at 1.002s, received 2, cancelled at 1.003s")
    #expect(time.pending.isEmpty)
  }

  @Test func `a script whose time goes back fails`() {
    let failures = failures {
      _ = ScriptedPublisher<Int, Never>(.cold, [(2, .value(1)), (1, .value(2))], on: time)
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(failures[0].message.contains("Time goes back in this script: 2 at 1s comes after 1 at 2s"))
  }

  @Test func `a script that cannot happen fails on its line`() {
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
    #expect(failures[0].message.hasPrefix("This script goes on after its ending: 7 comes after finished"))
    #expect(failures[1].message.hasPrefix("Time goes back in this script: 8 at 1s comes after 7 at 2s"))
    #expect(failures[2].message.hasPrefix("This script begins in the past: 7 at -1s"))
    #expect(failures[3].message.contains("1 at -1ms") && failures[3].message.contains("without ^"))
  }

  @Test func `what a subscriber answers counts as asked for`() {
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("123|")
    let recorder = source.record(on: time, demand: .oneByOne)
    time.run()
    #expect(recorder.values == [1, 2, 3])
    #expect(source.subscriptions[0].demand == .max(4))
    #expect(
      "\(source.subscriptions[0])"
        == "subscribed at 0s, asked for 1 at 0s, for 3 more in answers, received 3, ended at 3ms")
  }
}
