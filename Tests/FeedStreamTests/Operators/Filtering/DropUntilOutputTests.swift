import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DropUntilOutputTests {
  @Test func `drop(untilOutputFrom:) delivers values after the trigger's first value`() {
    withVirtualTime { time in
      let recorder = time.hot("abcd|").drop(untilOutputFrom: time.hot("-x-")).record(on: time)
      time.run()
      recorder.expect("--cd|")
    }
  }

  @Test(arguments: [false, true])
  func `the trigger of drop(untilOutputFrom:) is cancelled with the stream`(ends: Bool) {
    withVirtualTime { time in
      let ticks = Interval(every: .milliseconds(1), scheduler: time)
      let upstream = PassthroughSubject<Int, Never>()
      let recorder = upstream.drop(untilOutputFrom: ticks).record(on: time)
      time.advance(by: .milliseconds(3))
      upstream.send(1)
      #expect(recorder.values == [1])
      if ends { upstream.send(completion: .finished) } else { recorder.cancel() }
      #expect(recorder.completion == (ends ? .finished : nil))
    }
  }

  @Test func `drop(untilOutputFrom:) finishes once when the trigger finishes without a value`() {
    withVirtualTime { time in
      let recorder = time.hot("ab|").drop(untilOutputFrom: time.hot("-|")).record(on: time)
      time.run()
      recorder.expect("-|")
    }
  }

  @Test func `drop(untilOutputFrom:) mixes publishers that can and can't fail`() {
    let failing = Just(2).setFailureType(to: Boom.self)
    #expect(failing.drop(untilOutputFrom: Just("x")).record().values == [2])
    #expect(Just(1).drop(untilOutputFrom: failing).record().values == [1])
  }
}
