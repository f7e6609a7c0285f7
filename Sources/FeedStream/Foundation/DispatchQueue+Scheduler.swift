// Where Combine is available, it defines types with these names itself.
#if !canImport(Combine)
  public import Dispatch
  internal import Foundation

  /// A dispatch queue as a scheduler, so that code written for Combine runs unchanged.
  ///
  /// Below a `receive(on:)` with a queue, a stream runs on the queue: one value at a time and in order, even when the
  /// queue is concurrent. The part above stays where it was subscribed to. You can subscribe and cancel on any thread;
  /// if you cancel on a thread that isn't the queue's, a delivery that is already running may finish. In new code, use
  /// an ``EventLoop``, whose streams stay on one thread.
  extension DispatchQueue: Scheduler, QueueScheduler {
    @_documentation(visibility: internal)
    @inlinable public static var usesOtherThreads: Bool { true }
    package var queueName: String { label }
    package var isHere: (@Sendable () -> Bool)? {
      // Don't compare identities: on Linux, each use of `DispatchQueue.main` makes a new object.
      guard MainQueue.isMain(self) else { return nil }
      return { DispatchQueue.isMain }
    }

    /// True on the main thread, and in code on the main queue when another thread serves it for an asynchronous `main`.
    static var isMain: Bool { Foundation.Thread.isMainThread || MainQueue.isHere }

    /// An instant of the queue's clock, which stops while the machine is suspended.
    public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
      public var dispatchTime: DispatchTime

      public init(_ time: DispatchTime) { dispatchTime = time }

      public init(from decoder: any Decoder) throws {
        self.init(DispatchTime(uptimeNanoseconds: try decoder.singleValueContainer().decode(UInt64.self)))
      }

      public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dispatchTime.uptimeNanoseconds)
      }

      public static func == (lhs: Self, rhs: Self) -> Bool { lhs.dispatchTime == rhs.dispatchTime }
      public func hash(into hasher: inout Hasher) { hasher.combine(dispatchTime.rawValue) }

      public func distance(to other: Self) -> Stride {
        let (mine, theirs) = (dispatchTime.uptimeNanoseconds, other.dispatchTime.uptimeNanoseconds)
        return Stride(
          nanoseconds: theirs >= mine ? Int64(clamping: theirs - mine) : -Int64(clamping: mine - theirs))
      }
      public func advanced(by n: Stride) -> Self { Self(dispatchTime + .nanoseconds(Int(n.nanoseconds))) }

      /// A duration; a plain number means seconds.
      public typealias Stride = StreamInstant.Stride
    }

    /// The options with which a queue runs scheduled work.
    public struct SchedulerOptions {
      public var qos: DispatchQoS
      public var flags: DispatchWorkItemFlags
      public var group: DispatchGroup?

      public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], group: DispatchGroup? = nil) {
        self.qos = qos
        self.flags = flags
        self.group = group
      }
    }

    public var now: SchedulerTimeType { SchedulerTimeType(.now()) }
    public var minimumTolerance: SchedulerTimeType.Stride { .zero }

    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
      let action = Carried(uncheckedly: action)
      async(group: options?.group, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) { action.value() }
    }

    public func schedule(
      after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
      _ action: @escaping () -> Void
    ) {
      let action = Carried(uncheckedly: action)
      asyncAfter(deadline: date.dispatchTime, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) {
        action.value()
      }
    }

    /// Runs `action` at `date` and then every `interval`.
    ///
    /// - Returns: a cancellable that stops the repetition. Unlike in Combine, releasing it doesn't stop the repetition;
    ///   to stop it then, wrap the cancellable in an ``AnyCancellable``.
    /// - Precondition: `interval` is more than zero.
    public func schedule(
      after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
      options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
      precondition(interval > .zero, "DispatchQueue.schedule: the interval is \(interval); use more than zero")
      let timer = DispatchSource.makeTimerSource(queue: self)
      let repetition = Repetition(timer)
      let action = Carried(uncheckedly: action)
      // The handler retains the timer until it is cancelled, so the timer keeps running when the cancellable is
      // released.
      timer.setEventHandler(qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) {
        repetition.run(action.value)
      }
      timer.schedule(
        deadline: date.dispatchTime, repeating: .nanoseconds(Int(interval.nanoseconds)),
        leeway: .nanoseconds(Int(max(tolerance, .zero).nanoseconds)))
      timer.resume()
      return repetition
    }

    /// The timer and its handler retain each other through this object until the timer is cancelled.
    private final class Repetition: Cancellable, Sendable {
      private let timer: Locked<Carried<any DispatchSourceTimer>?>
      init(_ timer: any DispatchSourceTimer) { self.timer = Locked(Carried(uncheckedly: timer)) }

      func run(_ action: () -> Void) { if timer.withLock({ $0 != nil }) { action() } }

      // Doesn't remove the handler. libdispatch does so once the timer is cancelled, and removing it here as well frees
      // memory of libdispatch twice in some runs.
      func cancel() { timer.withLock { $0.take() }?.value.cancel() }
    }
  }
#endif

extension StreamInstant.Stride {
  /// The duration as a `DispatchTimeInterval`. In Combine, the stride of a queue's time has this property.
  public var timeInterval: DispatchTimeInterval { .nanoseconds(Int(nanoseconds)) }
}
