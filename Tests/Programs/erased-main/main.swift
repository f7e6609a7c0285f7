// A type-erased scheduler around the main queue, which the loop serves: the loop waits for its work.
// Expects: 100 received, 100 delayed, the last debounced, 100 in arrays, 1 subscribed
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
let main = AnyScheduler(DispatchQueue.main)
var (received, delayed, debounced, arrays, subscribed) = (0, 0, -1, 0, 0)
var bag: Set<AnyCancellable> = []
(0..<100).publisher.flatMap { Just($0).receive(on: main) }.sink { _ in received += 1 }.store(in: &bag)
(0..<100).publisher.delay(for: .milliseconds(20), scheduler: main).sink { _ in delayed += 1 }.store(in: &bag)
(0..<100).publisher.append(Empty(completeImmediately: false)).debounce(for: .milliseconds(20), scheduler: main).first()
  .sink { debounced = $0 }.store(in: &bag)
(0..<100).publisher.collect(.byTime(main, .milliseconds(10))).sink { arrays += $0.count }.store(in: &bag)
Just(1).subscribe(on: main).sink { subscribed += $0 }.store(in: &bag)
// The loop doesn't wait for cancelled work.
Just(1).delay(for: .seconds(3_600), scheduler: main).sink { _ in }.cancel()
loop.run()
print(
  "\(received) received, \(delayed) delayed, \(debounced == 99 ? "the last" : "\(debounced)") debounced, \(arrays) in arrays, "
    + "\(subscribed) subscribed")
