import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct IntervalTests {
  @Test func `Interval counts its ticks`() {
    withVirtualTime { time in
      let recorder = Interval(every: .milliseconds(3), scheduler: time).record(on: time)
      time.advance(by: .milliseconds(10))
      recorder.expect("---0--1--2")
      recorder.cancel()
    }
  }

  @Test func `Interval can start immediately`() {
    withVirtualTime { time in
      let recorder = Interval(after: .zero, every: .milliseconds(3), scheduler: time).record(on: time)
      time.advance(by: .milliseconds(7))
      recorder.expect("0--1--2")
      recorder.cancel()
    }
  }

  @Test func `an unrequested tick leaves a gap in Interval's count`() {
    withVirtualTime { time in
      let recorder = Interval(every: .milliseconds(2), scheduler: time).record(on: time, demand: .max(1))
      time.advance(by: .milliseconds(7))
      recorder.request(.max(1))
      time.advance(by: .milliseconds(3))
      recorder.expect("--0-----3")
      recorder.cancel()
    }
  }

  @Test func `after a stall, Interval delivers one tick, not a burst`() {
    withVirtualTime { time in
      let recorder = Interval(every: .milliseconds(2), scheduler: time).record(on: time)
      time.stall(for: .milliseconds(9))
      time.advance(by: .milliseconds(4))
      recorder.expect("---------0-1-2")
      recorder.cancel()
    }
  }

  @Test func `Interval keeps ticking after the scheduler's clock was set back`() {
    withVirtualTime { time in
      let clock = SettableClock(time)
      clock.offset = .seconds(3600)
      let recorder = Interval(every: .milliseconds(2), scheduler: clock).record(on: time)
      time.advance(by: .milliseconds(3))
      clock.offset = .zero
      time.advance(by: .milliseconds(5))
      recorder.expect("--0-1-2-3")
      recorder.cancel()
    }
  }

  @Test func `Interval has no next tick at the end of time`() {
    withVirtualTime { time in
      let recorder = Interval(every: .milliseconds(2), scheduler: time).record(on: time)
      time.stall(for: .seconds(.infinity))
      time.advance()
      #expect(recorder.values == [0])
      #expect(time.pending.isEmpty)
      recorder.cancel()
    }
  }

  @Test func `cancelling during a tick stops Interval`() {
    withVirtualTime { time in
      let recorder = Interval(every: .milliseconds(1), scheduler: time).record(on: time)
      recorder.onValue = { _ in recorder.cancel() }
      time.advance(by: .milliseconds(5))
      recorder.expect("-0")
    }
  }

  @Test func `Interval with an interval of zero traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Interval(every: 0, scheduler: VirtualTimeScheduler())
    }
    #expect(result?.says("use more than 0") == true)
  }

  @Test func `Interval and collect(.byTime) require a scheduler with time`() async {
    let literal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Interval(every: 5, scheduler: ImmediateScheduler.shared).sink { _ in }
    }
    #expect(literal?.says("Interval: this scheduler's time does not advance; use one whose time advances") == true)
    let inSeconds = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Interval(every: .seconds(1), scheduler: ImmediateScheduler.shared).sink { _ in }
    }
    #expect(inSeconds?.says("use one whose time advances") == true)
    let collected = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Just(1).collect(.byTime(ImmediateScheduler.shared, .seconds(1)))
    }
    #expect(collected?.says("use one whose time advances") == true)
  }
}
