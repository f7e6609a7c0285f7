import FeedStream
import Foundation
import TestSupport
import Testing

// A run loop uses the real clock, so these tests wait for some milliseconds.
@Suite("Run loops as schedulers", .serialized, .settled) struct RunLoopTests {
  private func run(while condition: () -> Bool) {
    let deadline = Date() + 5
    while condition(), Date() < deadline { RunLoop.current.run(until: Date() + 0.005) }
  }

  @Test func `Combine's timer ticks on a run loop until cancelled`() {
    var dates: [Date] = []
    let timer = Timer.publish(every: 0.01, on: .current, in: .default).autoconnect().sink { dates.append($0) }
    run(while: { dates.count < 3 })
    timer.cancel()
    let count = dates.count
    RunLoop.current.run(until: Date() + 0.04)
    #expect(count >= 3)
    #expect(dates.count == count)
    #expect(dates == dates.sorted())
  }

  @Test func `operators accept a run loop as scheduler`() {
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    let debounced = subject.debounce(for: .milliseconds(5), scheduler: RunLoop.current)
      .receive(on: RunLoop.current).sink { values.append($0) }
    for value in 1...3 { subject.send(value) }
    #expect(values == [])
    run(while: { values.isEmpty })
    #expect(values == [3])
    debounced.cancel()
  }

  @Test func `values delayed on a run loop aren't delivered after cancellation`() {
    var values: [Int] = []
    let delayed = Just(1).delay(for: 0.005, scheduler: RunLoop.current).sink { values.append($0) }
    delayed.cancel()
    RunLoop.current.run(until: Date() + 0.02)
    #expect(values == [])
  }

  @Test func `completed and cancelled work is released, even though Foundation keeps its timers`() {
    final class Held {}
    var held: Held? = Held()
    weak let once = held
    RunLoop.current.schedule(after: RunLoop.current.now, tolerance: 0, options: nil) { [held] in _ = held }
    held = nil
    #expect(once != nil)
    run(while: { once != nil })
    #expect(once == nil)

    held = Held()
    weak let often = held
    let ticks = RunLoop.current.schedule(
      after: RunLoop.current.now, interval: 60, tolerance: 0, options: nil
    ) { [held] in _ = held }
    held = nil
    #expect(often != nil)
    ticks.cancel()
    #expect(often == nil)
  }

  /// Booked turns retain their loop.
  @Test func `one-off work that the run loop has run leaves nothing in an idle event loop of its thread`() {
    var loop: EventLoop? = EventLoop()
    weak let released = loop
    var count = 0
    RunLoop.current.schedule { count += 1 }
    RunLoop.current.schedule(after: RunLoop.current.now) { count += 1 }
    run(while: { count < 2 })
    #expect(count == 2)
    loop = nil
    #expect(released == nil)
  }

  @Test func `work repeats at an interval of less than a nanosecond`() {
    var count = 0
    let work = RunLoop.current.schedule(after: RunLoop.current.now, interval: 1e-10) { count += 1 }
    run(while: { count < 2 })
    work.cancel()
    #expect(count >= 2)
  }

  @Test func `repeating work at an interval of zero or less traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = RunLoop.main.schedule(after: RunLoop.main.now, interval: -1) {}
    }
    #expect(result?.says("RunLoop.schedule: the interval is -1.0; use more than zero") == true)
  }
}
