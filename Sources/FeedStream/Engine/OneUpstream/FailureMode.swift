extension Publishers {
  /// How an operator whose closure may throw ends: what the closure throws, and what upstream fails with, as its own
  /// failure. There are two: ``NonThrowing`` and ``Throwing``.
  ///
  /// With it, `removeDuplicates` and `tryRemoveDuplicates` are one publisher and one stage: a closure that cannot throw has
  /// the error type `Never`, and the compiler removes what cannot happen.
  public protocol FailureMode<UpstreamFailure>: SendableMetatype {
    associatedtype UpstreamFailure: Error
    /// What the closure throws.
    associatedtype RuleError: Error
    /// What the operator fails with.
    associatedtype Failure: Error

    static func failure(ofUpstream error: UpstreamFailure) -> Failure
    static func failure(ofRule error: RuleError) -> Failure
  }

  /// The closure cannot throw; upstream's failure is the operator's.
  public enum NonThrowing<UpstreamFailure: Error>: FailureMode {
    @inlinable public static func failure(ofUpstream error: UpstreamFailure) -> UpstreamFailure { error }
    @inlinable public static func failure(ofRule error: Never) -> UpstreamFailure {}
  }

  /// The operator fails with whatever the closure throws.
  public enum Throwing<UpstreamFailure: Error>: FailureMode {
    @inlinable public static func failure(ofUpstream error: UpstreamFailure) -> any Error { error }
    @inlinable public static func failure(ofRule error: any Error) -> any Error { error }
  }
}

extension Publishers.FailureMode {
  /// Whether this is the `try` form of an operator.
  @inlinable static var throwsErrors: Bool { RuleError.self != Never.self }
}
