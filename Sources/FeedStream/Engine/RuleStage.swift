/// How an operator whose closure may throw ends: what its rule throws, and what upstream fails with, as its own failure.
///
/// With it, `removeDuplicates` and `tryRemoveDuplicates` are one stage: a rule that cannot throw has the error type `Never`,
/// and the compiler removes what cannot happen.
@frozen
@usableFromInline
struct Endings<UpstreamFailure: Error, RuleError: Error, Failure: Error> {
  @usableFromInline
  let upstream: (UpstreamFailure) -> Failure
  @usableFromInline
  let rule: (RuleError) -> Failure

  @inlinable
  init(upstream: @escaping (UpstreamFailure) -> Failure, rule: @escaping (RuleError) -> Failure) {
    self.upstream = upstream
    self.rule = rule
  }
}

extension Endings where RuleError == Never, Failure == UpstreamFailure {
  /// The rule cannot throw; upstream's failure is the operator's.
  @inlinable
  static var passing: Self { Self(upstream: { $0 }, rule: { (_: Never) -> Failure in }) }
}

extension Endings where RuleError == any Error, Failure == any Error {
  /// The operator fails with whatever the rule throws.
  @inlinable
  static var throwing: Self { Self(upstream: { $0 }, rule: { $0 }) }
}

/// A stage with one rule that may throw.
@usableFromInline
class RuleStage<Input, UpstreamFailure: Error, RuleError: Error, Output, OutputFailure: Error>:
  Stage<Output, OutputFailure>
{
  @usableFromInline
  final let endings: Endings<UpstreamFailure, RuleError, OutputFailure>

  @inlinable
  init(
    _ down: Downstream<Output, OutputFailure>, _ endings: Endings<UpstreamFailure, RuleError, OutputFailure>
  ) {
    self.endings = endings
    super.init(down)
  }

  @inlinable
  final func receive(completion: Subscribers.Completion<UpstreamFailure>) {
    finish(completion.mapError(endings.upstream))
  }

  /// The rule threw: that is the ending.
  @inline(never)
  @usableFromInline
  final func fail(_ error: RuleError) -> Subscribers.Demand {
    stop(.failure(endings.rule(error)))
    return .none
  }

  /// `PrefixWhile`, or `TryPrefixWhile` when the rule may throw.
  @usableFromInline
  override var description: String { (RuleError.self == Never.self ? "" : "Try") + super.description }
}
