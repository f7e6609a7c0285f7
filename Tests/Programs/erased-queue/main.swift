// A type-erased scheduler around a concurrent queue, whose type declares that it uses other threads.
// Expects: 2000 received in order, 500 of many, the last debounced
import Dispatch
import FeedStream

/// A type-erased scheduler, like those in libraries for Combine.
struct AnyScheduler<Time: Strideable, Options>: Scheduler where Time.Stride: SchedulerTimeIntervalConvertible {
  typealias SchedulerTimeType = Time
  typealias SchedulerOptions = Options
  static var usesOtherThreads: Bool { true }
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
let queue = AnyScheduler(DispatchQueue.global())
nonisolated(unsafe) var (received, many, debounced) = ([Int](), 0, -1)
var bag: Set<AnyCancellable> = []
(0..<2_000).publisher.receive(on: queue).sink { received.append($0) }.store(in: &bag)
(0..<500).publisher.flatMap { Just($0).delay(for: .microseconds(50), scheduler: queue) }.sink { _ in many += 1 }
  .store(in: &bag)
(0..<100).publisher.append(Empty(completeImmediately: false)).debounce(for: .milliseconds(20), scheduler: queue).first()
  .sink { debounced = $0 }.store(in: &bag)
loop.run()
let isOrdered = received == Array(0..<2_000)
print(
  "\(received.count) received \(isOrdered ? "in order" : "in disorder"), \(many) of many, "
    + "\(debounced == 99 ? "the last" : "\(debounced)") debounced")
