// A type-erased scheduler that declares that it uses other threads: a stream below it that subscribes to a subject
// requests and cancels on the subject's thread.
// Expects: 1, 2
import Dispatch
import FeedStream

struct AnyQueue: Scheduler {
  static var usesOtherThreads: Bool { true }
  typealias SchedulerTimeType = DispatchQueue.SchedulerTimeType
  typealias SchedulerOptions = DispatchQueue.SchedulerOptions
  let base: DispatchQueue
  var now: SchedulerTimeType { base.now }
  var minimumTolerance: SchedulerTimeType.Stride { base.minimumTolerance }
  func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) { base.schedule(options: options, action) }
  func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    base.schedule(after: date, tolerance: tolerance, options: options, action)
  }
  func schedule(
    after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    base.schedule(after: date, interval: interval, tolerance: tolerance, options: options, action)
  }
}

let loop = EventLoop()
let queue = AnyQueue(base: .main)
let (received, subscribed) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
let feeding = [
  Just(1).receive(on: queue).subscribe(received), Just(2).subscribe(on: queue).subscribe(subscribed),
]
let ended = Empty<Int, Never>(completeImmediately: false).receive(on: queue).sink { print($0) }
ended.cancel()
let sink = received.zip(subscribed).sink { print("\($0), \($1)") }
loop.run()
