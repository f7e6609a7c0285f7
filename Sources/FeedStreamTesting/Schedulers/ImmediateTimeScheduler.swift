import FeedStream

/// A scheduler that runs everything immediately, in the call that schedules it, whatever time is requested.
///
///     results.debounce(for: 0.3, scheduler: .immediate)
///
/// Use it in a test that isn't about time: delays take no time, repeated work runs once, and offloaded work runs in the
/// call. Files are the operating system's, and there is no network. Time doesn't advance: a measured interval is zero,
/// and `Interval`, `Timer` and `timeout` trap. If order, time or files matter, use virtual time.
public final class ImmediateTimeScheduler: LoopScheduler, Sendable {
  public let now: StreamInstant

  /// - Parameter now: the only instant.
  public init(now: StreamInstant = StreamInstant(nanoseconds: 0)) { self.now = now }

  public var minimumTolerance: StreamInstant.Stride { 0 }

  public func schedule(options: Never?, _ action: @escaping () -> Void) { action() }

  public func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) { action() }

  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    action()
    return Subscriptions.empty
  }

  @discardableResult public func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    completion(work())
    return Subscriptions.empty
  }
}

extension Scheduler where Self == ImmediateTimeScheduler {
  /// A scheduler that runs everything immediately; see ``ImmediateTimeScheduler``.
  public static var immediate: ImmediateTimeScheduler { ImmediateTimeScheduler() }
}
