// Where Combine is available, Foundation defines types with these names itself.
#if !canImport(Combine)
  public import Foundation

  /// An operation queue as a scheduler, so that code written for Combine runs unchanged.
  ///
  /// As with a dispatch queue, values are delivered one at a time and in order, whatever the queue's
  /// `maxConcurrentOperationCount`.
  extension OperationQueue: Scheduler, QueueScheduler {
    @_documentation(visibility: internal)
    @inlinable public static var usesOtherThreads: Bool { true }
    package static var dropsWork: Bool { true }
    package var queueName: String { name ?? "an operation queue" }
    package var isHere: (@Sendable () -> Bool)? {
      guard self === OperationQueue.main else { return nil }
      return { DispatchQueue.isMain }
    }

    public typealias SchedulerTimeType = RunLoop.SchedulerTimeType

    /// An operation queue has no options.
    public struct SchedulerOptions: Sendable {
      public init() {}
    }

    public var now: SchedulerTimeType { SchedulerTimeType(Date()) }
    public var minimumTolerance: SchedulerTimeType.Stride { 0 }

    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
      let action = Carried(uncheckedly: action)
      addOperation { action.value() }
    }

    public func schedule(
      after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
      _ action: @escaping () -> Void
    ) {
      let action = Carried(uncheckedly: action)
      OperationQueue.timers.asyncAfter(deadline: .now() + max(date.date.timeIntervalSinceNow, 0)) {
        self.addOperation { action.value() }
      }
    }

    /// Runs `action` at `date` and then every `interval`. While a run waits in the queue, further runs are skipped.
    ///
    /// - Returns: a cancellable that stops the repetition. Unlike in Combine, releasing it doesn't stop the repetition;
    ///   to stop it then, wrap the cancellable in an ``AnyCancellable``.
    /// - Precondition: `interval` is more than zero.
    public func schedule(
      after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
      options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
      precondition(
        interval > .zero, "OperationQueue.schedule: the interval is \(interval.timeInterval); use more than zero")
      let action = Carried(uncheckedly: action)
      let run = WaitingRun()
      let timer = OperationQueue.timers.schedule(
        after: .init(.now() + max(date.date.timeIntervalSinceNow, 0)), interval: interval.onQueue,
        tolerance: .zero, options: nil
      ) {
        guard run.begin() else { return }
        let errand = LoopErrand {
          if run.end() { action.value() }
        } dropped: {
          _ = run.end()
        }
        self.addOperation { errand.run() }
      }
      return Repetition(run: run, timer: timer)
    }

    private struct Repetition: Cancellable {
      let run: WaitingRun
      let timer: any Cancellable

      func cancel() { if run.cancel() { timer.cancel() } }
    }

    /// The queue that runs the timers of operation queues.
    private static let timers = DispatchQueue(label: "FeedStream.OperationQueue")
  }
#endif
