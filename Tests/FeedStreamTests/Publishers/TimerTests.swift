import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct TimerTests {
  @Test func `a timer with autoconnect runs from its first subscription to its last cancellation`() {
    withVirtualTime { time in
      let recorder = time.timer(every: .milliseconds(2)).autoconnect().map { _ in "x" }.record(on: time)
      time.advance(by: .milliseconds(4))
      recorder.cancel()
      time.advance(by: .milliseconds(4))
      recorder.expect("--x-x")
    }
  }

  @Test func `a connected timer ticks for all its subscribers`() {
    withVirtualTime { time in
      let timer = time.timer(every: .milliseconds(2))
      let first = timer.map { _ in "x" }.record(on: time)
      time.advance(by: .milliseconds(3))
      let connection = timer.connect()
      let second = timer.map { _ in "y" }.record(on: time)
      time.advance(by: .milliseconds(4))
      connection.cancel()
      time.advance(by: .milliseconds(10))
      first.expect("-----x-x")
      second.expect("--y-y")
      first.cancel()
      second.cancel()
    }
  }

  @Test func `a timer runs until its last connection is cancelled`() {
    withVirtualTime { time in
      let timer = time.timer(every: .milliseconds(1))
      let recorder = timer.map { _ in "x" }.record(on: time)
      let connections = [timer.connect(), timer.connect()]
      connections[0].cancel()
      connections[0].cancel()
      time.advance(by: .milliseconds(2))
      connections[1].cancel()
      time.advance(by: .milliseconds(5))
      recorder.expect("-xx")
      recorder.cancel()
    }
  }
}
