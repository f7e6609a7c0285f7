/// Decides when and where work runs.
///
/// Production code takes a scheduler instead of reading a clock itself, so that a test can use virtual time.
///
/// Time operators take durations in the scheduler's own unit or as a `Duration`. They also take an `any LoopScheduler`.
public protocol Scheduler<SchedulerTimeType> {
  /// An instant in this scheduler's time.
  associatedtype SchedulerTimeType: Strideable where SchedulerTimeType.Stride: SchedulerTimeIntervalConvertible
  /// Options of this scheduler; `Never` if there are none.
  associatedtype SchedulerOptions

  /// The current time.
  var now: SchedulerTimeType { get }

  /// The smallest tolerance that this scheduler supports.
  var minimumTolerance: SchedulerTimeType.Stride { get }

  /// Runs `action` at the next opportunity, never before this call returns (except for ``ImmediateScheduler``).
  func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void)

  /// Runs `action` at `date` or as soon as possible after it.
  func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
    _ action: @escaping () -> Void)

  /// Runs `action` at `date` and then every `interval`.
  ///
  /// - Returns: a cancellable that stops the repetition.
  func schedule(
    after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable

  /// True when the scheduler may run work on threads other than the stream's, as a queue does: a stream crosses to it
  /// and continues there, one value at a time. False by default: work must run on the stream's thread, or the stream
  /// traps.
  static var usesOtherThreads: Bool { get }

  /// True for the schedulers of this library, and for queues. An implementation detail of the time operators: a loop
  /// keeps running while work waits on any other scheduler.
  @_documentation(visibility: internal)
  static var _isBuiltIn: Bool { get }
}

extension Scheduler {
  @inlinable public static var usesOtherThreads: Bool { false }
  @_documentation(visibility: internal)
  @inlinable public static var _isBuiltIn: Bool { false }
}

/// A duration that can be written in the usual units.
public protocol SchedulerTimeIntervalConvertible {
  static func seconds(_ s: Int) -> Self
  static func seconds(_ s: Double) -> Self
  static func milliseconds(_ ms: Int) -> Self
  static func microseconds(_ us: Int) -> Self
  static func nanoseconds(_ ns: Int) -> Self
}

// MARK: - Shorter forms

extension Scheduler {
  /// Runs `action` at the next opportunity.
  @inlinable public func schedule(_ action: @escaping () -> Void) { schedule(options: nil, action) }

  /// Runs `action` at `date`.
  @inlinable public func schedule(after date: SchedulerTimeType, _ action: @escaping () -> Void) {
    schedule(after: date, tolerance: minimumTolerance, options: nil, action)
  }

  /// Runs `action` at `date`, within `tolerance`.
  @inlinable public func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, _ action: @escaping () -> Void
  ) {
    schedule(after: date, tolerance: tolerance, options: nil, action)
  }

  /// Runs `action` at `date` and then every `interval`.
  @inlinable public func schedule(
    after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, _ action: @escaping () -> Void
  ) -> any Cancellable {
    schedule(after: date, interval: interval, tolerance: minimumTolerance, options: nil, action)
  }

  /// Runs `action` at `date` and then every `interval`, within `tolerance`.
  @inlinable public func schedule(
    after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    schedule(after: date, interval: interval, tolerance: tolerance, options: nil, action)
  }

  /// Runs `action` at `date` and then every `interval`.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable public func schedule(
    after date: SchedulerTimeType, interval: Duration, _ action: @escaping () -> Void
  ) -> any Cancellable {
    schedule(after: date, interval: SchedulerTimeType.Stride(interval), action)
  }
}
