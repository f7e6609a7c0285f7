import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct OnceTests {
  /// A third-party scheduler, which can cancel only repeating work.
  private final class Plain: LoopScheduler {
    private let time: VirtualTimeScheduler
    init(on time: VirtualTimeScheduler) { self.time = time }

    var now: StreamInstant { time.now }
    var minimumTolerance: StreamInstant.Stride { 0 }
    func schedule(options: Never?, _ action: @escaping () -> Void) { time.schedule(action) }
    func schedule(
      after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
    ) {
      time.schedule(after: date, action)
    }
    func schedule(
      after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      time.schedule(after: date, interval: interval, action)
    }
    func offload<T>(
      _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
    ) -> any Cancellable {
      time.offload(work, completion: completion)
    }
  }

  private static func schedulers() -> [(VirtualTimeScheduler, any LoopScheduler)] {
    let times = (0..<3).map { _ in VirtualTimeScheduler() }
    return [(times[0], times[0]), (times[1], VirtualLoop(on: times[1])), (times[2], Plain(on: times[2]))]
  }

  @Test func `scheduled work runs once, at its time, on every kind of scheduler`() {
    for (time, scheduler) in Self.schedulers() {
      var runs: [StreamInstant] = []
      let work = scheduler.once(after: .seconds(2)) { runs.append(time.now) }
      time.advance(by: .seconds(10))
      #expect(runs == [StreamInstant(nanoseconds: 2_000_000_000)])
      work.cancel()
      #expect(time.pending.isEmpty)
    }
  }

  @Test func `cancelled work doesn't run, and leaves no work on the scheduler`() {
    for (time, scheduler) in Self.schedulers() {
      var runs = 0
      scheduler.once(after: .seconds(2)) { runs += 1 }.cancel()
      #expect(time.pending.isEmpty)
      time.advance(by: .seconds(10))
      #expect(runs == 0)
    }
  }
}
