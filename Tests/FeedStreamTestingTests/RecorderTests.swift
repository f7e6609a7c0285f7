import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RecorderTests {
  let time = VirtualTimeScheduler()

  @Test func `a recorder keeps each event with its time`() {
    let recorder = (time.cold("a-b|") as ScriptedPublisher<Character, MarbleFailure>).record(on: time)
    time.run()
    #expect(recorder.events.map { "\($0)" } == ["0s a", "2ms b", "3ms finished"])
    #expect(recorder.values == ["a", "b"])
    #expect(recorder.completion == .finished)
  }

  @Test func `a recorder requests values as its script states`() {
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("123456|")
    let script = DemandScript(
      initial: .max(1), answers: [.max(1), .none], later: [.init(after: 1, .max(2)), .init(after: 2, .unlimited)])
    let recorder = source.record(on: time, demand: script)
    time.advance(by: 0.5)
    #expect(recorder.values == [1, 2])
    time.advance(by: 0.5)
    #expect(recorder.values == [1, 2, 3, 4])
    time.advance(by: 1)
    #expect(recorder.values == [1, 2, 3, 4, 5, 6])
    #expect(source.subscriptions[0].requests.map(\.content) == [.max(1), .max(2), .unlimited])
    #expect(
      recorder.ledger.entries.prefix(4).map(\.content) == [.requested(.max(1)), .used, .answered(.max(1)), .used])
  }

  @Test func `a value without demand fails immediately, on the recorder's line`() {
    let source = MisbehavingPublisher<Int, Never>(.emitsBeyondDemand, values: [1, 2], on: time)
    let failures = failures {
      let recorder = source.record(on: time, demand: DemandScript(initial: .max(1)))
      _ = recorder.events
    }
    #expect(failures.count == 1)
    #expect(failures.map(\.line) == [#line - 4])
    #expect(
      failures[0].message.contains("the value 2 was delivered without demand; requested 1, received 2"))
  }

  @Test func `a request before the current time fails on the recorder's line`() {
    let failures = failures {
      Empty<Int, Never>().record(on: time, demand: DemandScript(later: [.init(after: -1, .max(1))])).cancel()
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(failures[0].message == "This demand script requests values in the past, after -1s; use zero or more")
  }

  @Test(arguments: [
    (Misbehavior.emitsAfterEnding, "delivered after the completion"),
    (.completesTwice, "delivered after the completion"),
    (.subscribesTwice, "second subscription"), (.emitsBeforeSubscription, "before a subscription"),
    (.completesBeforeSubscription, "before a subscription"),
  ])
  func `a recorder reports every violation of the rules`(_ misbehavior: Misbehavior, _ words: String) {
    let failures = failures {
      let source = MisbehavingPublisher<Int, Never>(misbehavior, values: [1, 2], on: time)
      _ = source.record(on: time).events
    }
    #expect(failures.contains { $0.message.contains(words) })
  }

  @Test func `a recorder reports delivery after cancel`() {
    let source = MisbehavingPublisher<Int, Never>(.ignoresCancel, values: [1, 2], on: time)
    let recorder = source.record(on: time)
    time.advance(by: 0.001)
    recorder.cancel()
    let failures = failures { time.run() }
    #expect(failures.count == 1, "one for the rule, not for each value")
    #expect(failures[0].message.contains("after cancel() had returned (CONTRACT, rule 6)"))
  }

  @Test func `a recorder's onValue may request and cancel until the stream completes`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Int, Never>()
      let recorder = subject.record(on: time, demand: .max(1))
      recorder.onValue = { if $0 == 1 { recorder.request(.max(1)) } else { recorder.cancel() } }
      for value in 1...3 { subject.send(value) }
      #expect(recorder.values == [1, 2])
      #expect(recorder.ledger.asked == .max(2))
      // Nothing retains the recorder; otherwise, withVirtualTime would report it.
    }
  }

  @Test func `a recorder that was made without the test's time fails once, on its line`() {
    let failures = failures {
      withVirtualTime { time in
        let recorder = time.hot("a-b-c|").record()
        time.run()
        recorder.expect("(abc|)")
      }
    }
    #expect(failures.map(\.line) == [#line - 5])
    #expect(failures.first?.message.hasPrefix("An event arrived in the virtual time of another scheduler: ") ?? false)
  }

  @Test func `recorders that one line made without the test's time fail once, on that line`() {
    let failures = failures {
      withVirtualTime { time in
        let source = time.hot("a-b|")
        let recorders = (0..<3).map { _ in source.record() }
        time.run()
        for recorder in recorders { #expect(recorder.values == ["a", "b"]) }
      }
    }
    #expect(failures.map(\.line) == [#line - 5])
  }

  @Test func `recorders of streams that were made without the test's time fail once, on their line`() {
    let failures = failures {
      withVirtualTime { time in
        let windows = time.hot("a-b-c-d|").window(2).recordStreams()
        time.run()
        _ = windows.events
      }
    }
    #expect(failures.map(\.line) == [#line - 5])
  }

  @Test func `a recorder of work on a virtual loop needs the loop's time`() {
    for isOwn in [false, true] {
      let failures = failures {
        withVirtualTime { time in
          let subject = PassthroughSubject<Int, Never>()
          let recorder = subject.record(on: isOwn ? VirtualTimeScheduler() : time)
          VirtualLoop(on: time).schedule(after: time.now.advanced(by: 1)) { subject.send(1) }
          time.run()
          #expect(recorder.values == [1])
          recorder.cancel()
        }
      }
      #expect(failures.count == (isOwn ? 1 : 0))
    }
  }

  @Test func `work in virtual time may record a stream that needs no time`() {
    withVirtualTime { time in
      var values: [Int] = []
      time.schedule(after: time.now.advanced(by: 1)) { values = [1, 2].publisher.record().values }
      time.run()
      #expect(values == [1, 2])
    }
  }

  @Test func `a recorder's failure is the stream's failure`() {
    #expect(Fail<Int, MarbleFailure>(error: MarbleFailure()).record(on: time).failure == MarbleFailure())
    #expect(Empty<Int, MarbleFailure>().record(on: time).failure == nil)
  }
}
