// This file is empty without the `NIO` trait, which adds SwiftNIO as a dependency.
#if NIO
  public import FeedStream
  public import NIOCore
  internal import NIOPosix
  import Synchronization

  /// A SwiftNIO event loop as a scheduler. Set up and cancel streams on the event loop's thread, where they also run.
  ///
  /// For example, write `texts.debounce(for: .milliseconds(200), scheduler: channel.eventLoop.scheduler)`. This type is
  /// a `LoopScheduler`, so code written for `any LoopScheduler` can use it; blocking work goes to NIO's thread pool.
  /// Unlike FeedStream's own `EventLoop` in debug builds, this scheduler doesn't check that streams stay on the thread.
  public final class NIOScheduler: LoopScheduler, Sendable {
    public typealias SchedulerTimeType = StreamInstant
    public typealias SchedulerOptions = Never

    /// The event loop that runs the work.
    public let eventLoop: any NIOCore.EventLoop

    public init(_ eventLoop: any NIOCore.EventLoop) { self.eventLoop = eventLoop }

    public var now: StreamInstant { StreamInstant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }
    public var minimumTolerance: StreamInstant.Stride { .zero }

    public func schedule(options: Never?, _ action: @escaping () -> Void) {
      let work = Work(action)
      eventLoop.execute { work.run() }
    }

    public func schedule(
      after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
    ) {
      let work = Work(action)
      eventLoop.scheduleTask(deadline: deadline(date)) { work.run() }
    }

    /// Runs `action` at `date` and then every `interval` after that, without drift.
    ///
    /// After a stall, the action runs once, and missed runs are skipped; later runs stay aligned to `date`.
    ///
    /// - Precondition: `interval` is positive.
    public func schedule(
      after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      precondition(
        interval.nanoseconds > 0, "NIOScheduler.schedule: the interval is \(interval); use more than zero")
      return Repetition(on: self, from: date, every: interval, action)
    }

    @discardableResult public func offload<T>(
      _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
    ) -> any Cancellable {
      // The pool gets only the flag: it must not be the last to release the completion.
      let (completion, isCancelled) = (Completion(completion), Flag())
      NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { () -> Carried<T>? in
        isCancelled.isSet ? nil : Carried(work())
      }
      .whenSuccess { result in if let result { completion.run(result.value) } }
      return Cancellation {
        isCancelled.set()
        completion.drop()
      }
    }

    fileprivate func deadline(_ date: StreamInstant) -> NIODeadline {
      .uptimeNanoseconds(UInt64(clamping: date.nanoseconds))
    }
  }

  extension NIOScheduler: RevokingScheduler {
    package func scheduleOnce(after date: StreamInstant, _ action: @escaping () -> Void) -> (any Cancellable)? {
      let work = Completion<Void>(action)
      let task = eventLoop.scheduleTask(deadline: deadline(date)) { work.run(()) }
      return Cancellation {
        // Tasks that are due together can't be cancelled by one of them, so the work is dropped, too.
        work.drop()
        task.cancel()
      }
    }
  }

  extension NIOCore.EventLoop {
    /// This event loop as a scheduler of streams.
    public var scheduler: NIOScheduler { NIOScheduler(self) }
  }

  /// A piece of a stream's work, in transit to the stream's thread.
  // @unchecked: the caller hands the work over, and only the event loop runs it.
  private struct Work: @unchecked Sendable {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// The closure that receives the result of offloaded work or runs at a later time, unless it is cancelled first.
  // @unchecked: used only on the event loop, on which streams run and are cancelled.
  private final class Completion<T>: @unchecked Sendable {
    private var receive: ((T) -> Void)?
    init(_ receive: @escaping (T) -> Void) { self.receive = receive }
    func run(_ value: T) { receive?(value) }
    func drop() { receive = nil }
  }

  /// Tells the thread pool that work is cancelled.
  private final class Flag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
  }

  /// Work that repeats, counted from the time at which the previous run was due.
  private final class Repetition: Cancellable {
    private let scheduler: NIOScheduler
    private let interval: StreamInstant.Stride
    private var action: (() -> Void)?
    private var next: Scheduled<Void>?

    init(
      on scheduler: NIOScheduler, from date: StreamInstant, every interval: StreamInstant.Stride,
      _ action: @escaping () -> Void
    ) {
      (self.scheduler, self.interval, self.action) = (scheduler, interval, action)
      // A repetition that starts in the past would have to catch up.
      wait(until: Swift.max(date, scheduler.now))
    }

    private func wait(until due: StreamInstant) {
      let work = Work { [self] in
        action?()
        guard action != nil else { return }
        let missed = due.distance(to: scheduler.now).nanoseconds / interval.nanoseconds
        wait(until: due.advanced(by: .init(nanoseconds: (missed + 1) * interval.nanoseconds)))
      }
      next = scheduler.eventLoop.scheduleTask(deadline: scheduler.deadline(due)) { work.run() }
    }

    func cancel() {
      action = nil
      next?.cancel()
      next = nil
    }
  }

  /// A cancellable that does nothing when it is released.
  private final class Cancellation: Cancellable {
    private let action: () -> Void
    init(_ action: @escaping () -> Void) { self.action = action }
    func cancel() { action() }
  }
#endif
