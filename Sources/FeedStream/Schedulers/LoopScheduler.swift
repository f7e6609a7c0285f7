/// A scheduler on which a whole application can live: an ``EventLoop``, or in tests the virtual time scheduler in
/// `FeedStreamTesting`.
///
/// Besides time, the scheduler provides everything that an application needs from outside its thread, so that a test
/// can replace everything that is asynchronous.
public protocol LoopScheduler: Scheduler, AnyObject
where SchedulerTimeType == StreamInstant, SchedulerOptions == Never {
  /// Runs blocking or heavy work off the loop and delivers its result on this scheduler.
  ///
  /// Work started by several calls runs concurrently and finishes in any order; chain calls for serial work.
  ///
  /// - Parameters:
  ///   - work: runs off the loop: on libuv's thread pool, or, under virtual time, at a virtual instant.
  ///   - completion: runs on the scheduler afterwards, unless the returned cancellable is cancelled first.
  /// - Returns: a cancellable that prevents `completion`, and also `work` if it has not begun. Dropping it does not
  ///   cancel the work.
  @discardableResult func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable
}

extension LoopScheduler {
  @_documentation(visibility: internal)
  @inlinable public static var _isBuiltIn: Bool { true }
}
