/// A stage with one rule that may throw.
@usableFromInline
class RuleStage<Input, Output, Ending: Publishers.Endings>: Stage<Output, Ending.Failure> {
  @inlinable
  final func receive(completion: Subscribers.Completion<Ending.UpstreamFailure>) {
    finish(completion.mapError(Ending.failure(ofUpstream:)))
  }

  /// The rule threw: that is the ending.
  @inline(never)
  @usableFromInline
  final func fail(_ error: Ending.RuleError) -> Subscribers.Demand {
    stop(.failure(Ending.failure(ofRule: error)))
    return .none
  }

  /// `PrefixWhile`, or `TryPrefixWhile` when the rule may throw.
  @usableFromInline
  override var description: String { (Ending.throwsErrors ? "Try" : "") + super.description }
}
