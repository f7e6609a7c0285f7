extension Publishers {
  /// The error types of an operator whose closure may throw: the closure's, upstream's, and the operator's own. The
  /// modes are ``NonThrowing`` and ``Throwing``.
  ///
  /// Modes allow `removeDuplicates` and `tryRemoveDuplicates` to share one publisher and one stage: a closure that
  /// cannot throw has the error type `Never`, and the compiler removes the code for errors.
  public protocol FailureMode<UpstreamFailure>: SendableMetatype {
    associatedtype UpstreamFailure: Error
    /// The type of the errors that the closure throws.
    associatedtype RuleError: Error
    /// The type of the operator's failure.
    associatedtype Failure: Error

    static func failure(ofUpstream error: UpstreamFailure) -> Failure
    static func failure(ofRule error: RuleError) -> Failure
  }

  /// The closure cannot throw; the operator has upstream's failure type.
  public enum NonThrowing<UpstreamFailure: Error>: FailureMode {
    @inlinable public static func failure(ofUpstream error: UpstreamFailure) -> UpstreamFailure { error }
    @inlinable public static func failure(ofRule error: Never) -> UpstreamFailure {}
  }

  /// The operator fails with the error that the closure throws.
  public enum Throwing<UpstreamFailure: Error>: FailureMode {
    @inlinable public static func failure(ofUpstream error: UpstreamFailure) -> any Error { error }
    @inlinable public static func failure(ofRule error: any Error) -> any Error { error }
  }
}

extension Publishers.FailureMode {
  /// True when this is the `try` form of an operator.
  @inlinable static var throwsErrors: Bool { RuleError.self != Never.self }
}
