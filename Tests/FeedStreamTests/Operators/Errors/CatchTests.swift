import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CatchTests {
  @Test func `catch continues with the handler's publisher`() {
    withVirtualTime { time in
      let recorder = time.cold("a-#").catch { _ in time.cold("xy|") }.record(on: time)
      time.run()
      recorder.expect("a-xy|")
    }
  }

  @Test func `catch requests the remaining demand from the handler's publisher`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").catch { _ in time.cold("xyz|") }.record(on: time, demand: .max(4))
      time.run()
      recorder.expect("abxy")
      recorder.cancel()
    }
  }

  @Test func `demand returned during a failing value goes to the handler's publisher`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.catch { _ in "xyz".publisher }
      .record(demand: .oneByOne)
    recorder.onValue = { if $0 == "a" { subject.send(completion: .failure(Boom())) } }
    subject.send("a")
    #expect(recorder.values == ["a", "x", "y", "z"])
  }

  @Test func `cancelling while the handler runs cancels its publisher too`() {
    let subject = PassthroughSubject<Character, MarbleFailure>()
    var cancel = {}
    let recorder = subject.catch { _ in
      cancel()
      return "x".publisher
    }.record()
    cancel = { recorder.cancel() }
    subject.send(completion: .failure(MarbleFailure()))
    recorder.expect("")
  }

  @Test func `tryCatch fails with the error that the handler throws`() {
    withVirtualTime { time in
      struct Worse: Error {}
      let recorder = time.cold("a#").tryCatch { _ -> Just<String> in throw Worse() }.record(on: time)
      time.advance(by: .milliseconds(2))
      recorder.expect("a#", failure: Worse())
    }
  }
}
