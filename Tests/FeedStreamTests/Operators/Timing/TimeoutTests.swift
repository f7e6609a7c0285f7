import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct TimeoutTests {
  @Test func `timeout finishes after an interval without events`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b-----c-|").timeout(.milliseconds(4), scheduler: time).record(on: time)
      time.run()
      recorder.expect("-a-b---|")
    }
  }

  @Test func `timeout fails with the custom error`() {
    withVirtualTime { time in
      let recorder = time.hot("-a").timeout(.milliseconds(4), scheduler: time, customError: { MarbleFailure() }).record(
        on: time)
      time.run()
      recorder.expect("-a---#")
    }
  }

  @Test func `timeout starts its interval again at the first request`() {
    withVirtualTime { time in
      let recorder = time.hot("------a").timeout(.milliseconds(4), scheduler: time).record(on: time, demand: .none)
      time.advance(by: .milliseconds(3))
      recorder.request(.max(2))
      time.run()
      recorder.expect("------a---|")
    }
  }

  @Test func `timeout passes a stream that is never silent for the interval`() {
    withVirtualTime { time in
      let recorder = time.hot("--a---b---c--|").timeout(.milliseconds(5), scheduler: time).record(on: time)
      time.run()
      recorder.expect("--a---b---c--|")
    }
  }

  @Test func `timeout delivers values that arrived in time, however late the scheduler is`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Character, MarbleFailure>()
      let recorder = subject.timeout(.milliseconds(4), scheduler: time).record(on: time)
      subject.send("a")
      time.stall(for: .milliseconds(10))
      time.advance(by: .milliseconds(1))
      recorder.expect("----------(a|)")
    }
  }

  @Test func `cancelling a timeout stops its timer`() {
    withVirtualTime { time in
      let recorder = time.hot("").timeout(.milliseconds(3), scheduler: time).record(on: time)
      recorder.cancel()
    }
  }

  @Test func `timeout requires a scheduler with time`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let never = PassthroughSubject<Int, Never>().timeout(.seconds(1), scheduler: ImmediateScheduler.shared)
      _ = never.sink { _ in }
    }
    #expect(result?.says("use one whose time advances") == true)
  }
}
