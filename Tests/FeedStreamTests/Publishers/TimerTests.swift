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

  @Test func `a custom scheduler keeps a timer's place among what is due at the same time`() {
    let time = Steps()
    var seen: [String] = []
    let timer = time.timer(every: 2).autoconnect().sink { seen.append("tick at \($0.time)") }
    let interval = Interval(every: 3, scheduler: time).sink { _ in seen.append("interval") }
    // If each tick scheduled the next one, this work would be before those at the same time.
    time.schedule(after: StepTime(time: 6)) { seen.append("work") }
    time.advance(to: 6)
    #expect(seen == ["tick at 2", "interval", "tick at 4", "tick at 6", "interval", "work"])
    timer.cancel()
    interval.cancel()
    time.advance(to: 20)
    #expect(seen.count == 6)
  }

  /// Time of a custom scheduler, in steps.
  private struct StepTime: Strideable {
    struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByIntegerLiteral {
      var magnitude: Int
      init(integerLiteral value: Int) { magnitude = value }
      init?(exactly source: some BinaryInteger) { magnitude = Int(source) }
      init(_ steps: Int) { magnitude = steps }
      static func < (a: Self, b: Self) -> Bool { a.magnitude < b.magnitude }
      static func + (a: Self, b: Self) -> Self { Self(a.magnitude + b.magnitude) }
      static func - (a: Self, b: Self) -> Self { Self(a.magnitude - b.magnitude) }
      static func * (a: Self, b: Self) -> Self { Self(a.magnitude * b.magnitude) }
      static func *= (a: inout Self, b: Self) { a = a * b }
      static func seconds(_ s: Int) -> Self { Self(s) }
      static func seconds(_ s: Double) -> Self { Self(Int(s)) }
      static func milliseconds(_ ms: Int) -> Self { Self(ms / 1000) }
      static func microseconds(_ us: Int) -> Self { Self(us / 1_000_000) }
      static func nanoseconds(_ ns: Int) -> Self { Self(ns / 1_000_000_000) }
    }

    var time: Int
    func distance(to other: Self) -> Stride { Stride(other.time - time) }
    func advanced(by stride: Stride) -> Self { Self(time: time + stride.magnitude) }
  }

  /// A scheduler like one in a testing library: work that is due at the same time runs in the order of its scheduling,
  /// and repeated work keeps its place.
  private final class Steps: Scheduler {
    private var work: [(due: Int, place: Int, action: () -> Void)] = []
    private var places = 0
    private(set) var now = StepTime(time: 0)
    var minimumTolerance: StepTime.Stride { 0 }

    func schedule(options: Never?, _ action: @escaping () -> Void) { schedule(after: now, action) }

    func schedule(
      after date: StepTime, tolerance: StepTime.Stride, options: Never?, _ action: @escaping () -> Void
    ) {
      places += 1
      work.append((date.time, places, action))
    }

    func schedule(
      after date: StepTime, interval: StepTime.Stride, tolerance: StepTime.Stride, options: Never?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      places += 1
      repeatWork(at: date.time, place: places, every: interval.magnitude, action)
      return AnyCancellable { [place = places] in self.work.removeAll { $0.place == place } }
    }

    private func repeatWork(at due: Int, place: Int, every interval: Int, _ action: @escaping () -> Void) {
      let runAndRepeat = { [unowned self] in
        repeatWork(at: due + interval, place: place, every: interval, action)
        action()
      }
      work.append((due, place, runAndRepeat))
    }

    func advance(to end: Int) {
      while let next = work.filter({ $0.due <= end }).min(by: { ($0.due, $0.place) < ($1.due, $1.place) }) {
        work.removeAll { $0.place == next.place }
        now = StepTime(time: next.due)
        next.action()
      }
      now = StepTime(time: end)
    }
  }
}
