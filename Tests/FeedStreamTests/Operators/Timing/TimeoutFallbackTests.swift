import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct TimeoutFallbackTests {
  @Test func `timeout continues with the fallback and the remaining demand`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-------b").timeout(.milliseconds(3), scheduler: time, fallback: time.cold("xyz|"))
        .record(on: time, demand: .max(3))
      time.run()
      recorder.expect("-a--xy")
      recorder.request(.max(1))
      #expect(recorder.values == ["a", "x", "y", "z"])
      #expect(recorder.completion == .finished)
    }
  }

  @Test func `timeout's fallback mixes publishers that can and can't fail`() {
    withVirtualTime { time in
      let silent = PassthroughSubject<Int, Boom>()
      let recorder = silent.timeout(.seconds(1), scheduler: time, fallback: Just(1)).record(on: time)
      let never = PassthroughSubject<Int, Never>()
      let failed = never.timeout(.seconds(1), scheduler: time, fallback: Fail<Int, Boom>(error: Boom())).record(
        on: time)
      time.run()
      #expect(recorder.values == [1])
      #expect(failed.failure == Boom())
    }
  }
}
