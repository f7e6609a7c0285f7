import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DebounceTests {
  @Test func `debounce delivers what stands long enough`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-bc-----d---|").debounce(for: .milliseconds(3), scheduler: time).record(on: time)
      time.run()
      recorder.expect("-------c-----d|")
    }
  }

  @Test func `debounce drops what still waits when upstream ends`() {
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

  @Test func `debounce by nothing delivers the last value of the moment`() {
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
