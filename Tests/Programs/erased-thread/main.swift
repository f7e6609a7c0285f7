// An eraser of schedulers that uses other threads without declaring it.
// Traps: usesOtherThreads
import Dispatch
import FeedStream

/// A type-erased scheduler, like those in libraries for Combine.
struct AnyScheduler<Time: Strideable, Options>: Scheduler where Time.Stride: SchedulerTimeIntervalConvertible {
  typealias SchedulerTimeType = Time
  typealias SchedulerOptions = Options
  private let time: () -> Time
  private let tolerance: () -> Time.Stride
  private let soon: (Options?, @escaping () -> Void) -> Void
  private let later: (Time, Time.Stride, Options?, @escaping () -> Void) -> Void
  private let often: (Time, Time.Stride, Time.Stride, Options?, @escaping () -> Void) -> any Cancellable

  init<Base: Scheduler>(_ base: Base) where Base.SchedulerTimeType == Time, Base.SchedulerOptions == Options {
    time = { base.now }
    tolerance = { base.minimumTolerance }
    soon = { base.schedule(options: $0, $1) }
    later = { base.schedule(after: $0, tolerance: $1, options: $2, $3) }
    often = { base.schedule(after: $0, interval: $1, tolerance: $2, options: $3, $4) }
  }

  var now: Time { time() }
  var minimumTolerance: Time.Stride { tolerance() }
  func schedule(options: Options?, _ action: @escaping () -> Void) { soon(options, action) }
  func schedule(after date: Time, tolerance: Time.Stride, options: Options?, _ action: @escaping () -> Void) {
    later(date, tolerance, options, action)
  }
  func schedule(
    after date: Time, interval: Time.Stride, tolerance: Time.Stride, options: Options?, _ action: @escaping () -> Void
  ) -> any Cancellable { often(date, interval, tolerance, options, action) }
}

let loop = EventLoop()
let subscription = (0..<100).publisher.receive(on: AnyScheduler(DispatchQueue.global())).sink { _ in }
loop.run()
print("went on")
