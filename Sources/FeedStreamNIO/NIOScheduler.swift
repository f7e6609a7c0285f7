// This file is empty without the `NIO` trait, which adds SwiftNIO as a dependency.
#if NIO
  public import FeedStream
  public import NIOCore
  internal import NIOPosix

  /// A SwiftNIO event loop as a scheduler. Set up and cancel streams on the event loop's thread, where they also run.
  ///
  /// For example, write `texts.debounce(for: .milliseconds(200), scheduler: channel.eventLoop.scheduler)`. This type is
  /// a `LoopScheduler`, so code written for `any LoopScheduler` can use it; blocking work goes to NIO's thread pool.
  /// Unlike FeedStream's own `EventLoop` in debug builds, this scheduler doesn't check that streams stay on the thread.
  /// Scheduled work can't be cancelled: a cancelled `delay` holds its values until they are due.
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

    public func schedule(
      after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      let work = Work(action)
      let delay = TimeAmount.nanoseconds(Swift.max(0, now.distance(to: date).nanoseconds))
      let task = eventLoop.scheduleRepeatedTask(
        initialDelay: delay, delay: .nanoseconds(Swift.max(1, interval.nanoseconds))
      ) { _ in
        work.run()
      }
      return Cancellation { task.cancel() }
    }

    @discardableResult public func offload<T: Sendable>(
      _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
    ) -> any Cancellable {
      let completion = Completion(completion)
      NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop, work).whenSuccess { completion.run($0) }
      return Cancellation { completion.drop() }
    }

    private func deadline(_ date: StreamInstant) -> NIODeadline {
      .uptimeNanoseconds(UInt64(clamping: date.nanoseconds))
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

  /// The closure that receives the result of offloaded work, unless the work is cancelled first.
  // @unchecked: used only on the event loop, on which streams run and are cancelled.
  private final class Completion<T>: @unchecked Sendable {
    private var receive: ((T) -> Void)?
    init(_ receive: @escaping (T) -> Void) { self.receive = receive }
    func run(_ value: T) { receive?(value) }
    func drop() { receive = nil }
  }

  /// A cancellable that does nothing when it is released.
  private final class Cancellation: Cancellable {
    private let action: () -> Void
    init(_ action: @escaping () -> Void) { self.action = action }
    func cancel() { action() }
  }
#endif
