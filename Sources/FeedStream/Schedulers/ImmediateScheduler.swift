/// A scheduler that runs work immediately, in the call that schedules it, even if that call requests a later time.
///
/// Use it where an API requires a scheduler that your code doesn't need. Its time does not advance: an operator that
/// measures time traps on it, and repeated work runs once.
public struct ImmediateScheduler: Scheduler, Sendable {
  public typealias SchedulerOptions = Never

  /// The only instance.
  public static let shared = ImmediateScheduler()

  @_documentation(visibility: internal)
  @inlinable public static var _isBuiltIn: Bool { true }

  private init() {}

  public var now: SchedulerTimeType { SchedulerTimeType() }
  public var minimumTolerance: SchedulerTimeType.Stride { 0 }

  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) { action() }

  public func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    action()
  }

  public func schedule(
    after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    action()
    return Subscriptions.empty
  }
}

extension ImmediateScheduler {
  /// The only instant of this scheduler.
  public struct SchedulerTimeType: Strideable, Sendable {
    public func distance(to other: SchedulerTimeType) -> Stride { 0 }
    public func advanced(by n: Stride) -> SchedulerTimeType { self }
  }
}

extension ImmediateScheduler.SchedulerTimeType {
  /// A duration; this scheduler never waits.
  public struct Stride: ExpressibleByFloatLiteral, Comparable, SignedNumeric, Codable, Sendable,
    SchedulerTimeIntervalConvertible
  {
    public var magnitude: Int

    public init(_ value: Int) { magnitude = value }
    public init(integerLiteral value: Int) { self.init(value) }
    public init(floatLiteral value: Double) { self.init(Int(value)) }
    public init?<T: BinaryInteger>(exactly source: T) {
      guard let value = Int(exactly: source) else { return nil }
      self.init(value)
    }

    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.magnitude < rhs.magnitude }
    public static func + (lhs: Self, rhs: Self) -> Self { Self(lhs.magnitude + rhs.magnitude) }
    public static func - (lhs: Self, rhs: Self) -> Self { Self(lhs.magnitude - rhs.magnitude) }
    public static func * (lhs: Self, rhs: Self) -> Self { Self(lhs.magnitude * rhs.magnitude) }
    public static func *= (lhs: inout Self, rhs: Self) { lhs = lhs * rhs }

    public static func seconds(_ s: Int) -> Self { 0 }
    public static func seconds(_ s: Double) -> Self { 0 }
    public static func milliseconds(_ ms: Int) -> Self { 0 }
    public static func microseconds(_ us: Int) -> Self { 0 }
    public static func nanoseconds(_ ns: Int) -> Self { 0 }
  }
}
