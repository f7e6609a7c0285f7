import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DebounceTests {
  @Test func `debounce delivers a value that no other one follows within the interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-bc-----d---|").debounce(for: .milliseconds(3), scheduler: time).record(on: time)
      time.run()
      recorder.expect("-------c-----d|")
    }
  }

  @Test func `debounce drops a waiting value when upstream completes`() {
    withVirtualTime { time in
      let recorder = time.hot("-a|").debounce(for: .milliseconds(3), scheduler: time).record(on: time)
      time.run()
      recorder.expect("--|")
    }
  }

  @Test func `debounce delivers nothing after cancel`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-----|").debounce(for: .milliseconds(3), scheduler: time).record(on: time)
      time.advance(by: .milliseconds(2))
      recorder.cancel()
      time.run()
      recorder.expect("")
    }
  }

  @Test func `debounce with an interval of zero delivers the last value of the moment`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Character, MarbleFailure>()
      let recorder = subject.debounce(for: 0, scheduler: time).record(on: time)
      for value in "abc" { subject.send(value) }
      time.advance()
      recorder.expect("c")
      recorder.cancel()
    }
  }
}
