/// Counts at a regular interval: 0, 1, 2 … from each subscription.
///
///     Interval(every: 3)
///     downstream  ---0--1--2--3…
///
/// This publisher is cold: every subscription has its own count. There is no burst after a stall: ticks that a busy
/// scheduler missed are skipped and not counted. A custom scheduler repeats the work itself, and decides what happens
/// to missed ticks.
///
/// **Demand:** each tick uses up one of the requested values. **Policy:** a tick that has not been requested is dropped
/// and reported. It still counts, so the delivered numbers show a gap. If a subscriber requests one tick at a time and
/// takes longer than the interval to request another, it receives the next regular tick, not the dropped ones.
/// **Failure:** none. **Cancellation:** immediate.
public struct Interval<Context: Scheduler>: Publisher, _DeliversAtHome {
  public typealias Output = Int
  public typealias Failure = Never

  public let delay: Context.SchedulerTimeType.Stride
  public let interval: Context.SchedulerTimeType.Stride
  public let tolerance: Context.SchedulerTimeType.Stride?
  public let scheduler: Context
  public let options: Context.SchedulerOptions?

  /// - Parameters:
  ///   - delay: the time from the subscription to the first tick; `interval` by default. With `.zero`, the first tick
  ///     comes at the scheduler's next opportunity.
  ///   - interval: the time between ticks, as measured by `scheduler`.
  ///   - tolerance: the maximum delay of a tick; by default, the scheduler's minimum.
  ///   - scheduler: measures the time and delivers the values.
  ///   - options: passed on to `scheduler`.
  /// - Precondition: `interval` is more than zero.
  public init(
    after delay: Context.SchedulerTimeType.Stride? = nil, every interval: Context.SchedulerTimeType.Stride,
    tolerance: Context.SchedulerTimeType.Stride? = nil, scheduler: Context,
    options: Context.SchedulerOptions? = nil
  ) {
    Ticker<Context>.check(interval, "Interval")
    self.delay = delay ?? interval
    self.interval = interval
    self.tolerance = tolerance
    self.scheduler = scheduler
    scheduler.noteQueue()
    self.options = options
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
    let ticks = Ticks(ErasedSubscriber(subscriber), Ticker(interval, tolerance, scheduler, options))
    subscriber.receive(subscription: ticks)
    ticks.start(after: delay)
  }

  @inline(never) @usableFromInline func cross(to subscriber: ErasedSubscriber<Int, Never>) {
    scheduler.cross("Interval", to: subscriber, options: options) { stage, scheduler in
      Interval<HomeScheduler<Context>>(
        after: delay, every: interval, tolerance: tolerance, scheduler: scheduler, options: options
      )
      .receive(subscriber: stage)
    }
  }
}

extension Interval: Metronome {}

extension Interval {
  /// Counts at an interval given as a `Duration`.
  @_documentation(visibility: internal) @_disfavoredOverload
  public init(
    after delay: Duration? = nil, every interval: Duration, tolerance: Duration? = nil, scheduler: Context,
    options: Context.SchedulerOptions? = nil
  ) {
    typealias Stride = Context.SchedulerTimeType.Stride
    self.init(
      after: delay.map { Stride($0) }, every: Stride(interval), tolerance: tolerance.map { Stride($0) },
      scheduler: scheduler, options: options)
  }

  /// Counts on any loop scheduler.
  @_documentation(visibility: internal) @_disfavoredOverload
  public init(
    after delay: Duration? = nil, every interval: Duration, tolerance: Duration? = nil, scheduler: some LoopScheduler,
    options: Never? = nil
  ) where Context == AnyLoopScheduler {
    self.init(after: delay, every: interval, tolerance: tolerance, scheduler: AnyLoopScheduler(scheduler))
  }
}

/// One subscription to an interval.
@usableFromInline final class Ticks<Context: Scheduler>: GuardedSubscription {
  private let down: ErasedSubscriber<Int, Never>
  private let ticker: Ticker<Context>
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var isActive = true

  @usableFromInline init(_ down: ErasedSubscriber<Int, Never>, _ ticker: Ticker<Context>) {
    self.down = down
    self.ticker = ticker
  }

  @usableFromInline func start(after delay: Context.SchedulerTimeType.Stride) {
    if isActive { ticker.start(after: delay) { [self] _ in tick() } }
  }

  private func tick() {
    let number = count
    count += 1
    guard isActive else { return }
    guard demand > .none else { return StreamDiagnostics.dropped(number, "Interval", .noDemand) }
    demand.takeOne()
    demand += down.receive(number)
  }

  override func requested(_ demand: Subscribers.Demand) { self.demand += demand }

  override func cancelled() {
    isActive = false
    ticker.stop()
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = demand
    facts.waitsForTime = isActive
    facts.isOver = !isActive
  }

  override var description: String { "Interval" }
}

extension Ticks: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
