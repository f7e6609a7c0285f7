/// An ``EventLoop`` or a virtual time scheduler, as one concrete type.
///
/// Time operators create it from `any LoopScheduler`; your code doesn't need to:
/// `stream.debounce(for: pause, scheduler: scheduler)`.
public struct AnyLoopScheduler: Scheduler {
  public typealias SchedulerTimeType = StreamInstant
  public typealias SchedulerOptions = Never
  public typealias Stride = StreamInstant.Stride

  /// The scheduler that does the work.
  public let base: any LoopScheduler

  public init(_ base: any LoopScheduler) { self.base = base }

  public var now: StreamInstant { base.now }
  public var minimumTolerance: StreamInstant.Stride { base.minimumTolerance }

  public func schedule(options: Never?, _ action: @escaping () -> Void) { base.schedule(options: nil, action) }

  public func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    base.schedule(after: date, tolerance: tolerance, options: nil, action)
  }

  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    base.schedule(after: date, interval: interval, tolerance: tolerance, options: nil, action)
  }
}

extension AnyLoopScheduler: RelayingScheduler {
  package var elsewhere: (any ElsewhereScheduler)? { base as? any ElsewhereScheduler }
}

extension AnyLoopScheduler: RevokingScheduler {
  package func scheduleOnce(after date: StreamInstant, _ action: @escaping () -> Void) -> (any Cancellable)? {
    (base as? any RevokingScheduler<StreamInstant>)?.scheduleOnce(after: date, action)
  }
}
