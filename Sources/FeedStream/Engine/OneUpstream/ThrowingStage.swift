/// A stage with one rule that may throw.
@usableFromInline class ThrowingStage<Input, Output, Mode: Publishers.FailureMode>: Stage<Output, Mode.Failure> {
  @inlinable final func receive(completion: Subscribers.Completion<Mode.UpstreamFailure>) {
    finish(completion.mapError(Mode.failure(ofUpstream:)))
  }

  /// Fails the stream with the error that the rule threw.
  @inline(never) @usableFromInline final func fail(_ error: Mode.RuleError) -> Subscribers.Demand {
    stop(.failure(Mode.failure(ofRule: error)))
    return .none
  }

  /// The operator's name: for example `PrefixWhile`, or `TryPrefixWhile` when the rule may throw.
  override var description: String { (Mode.throwsErrors ? "Try" : "") + super.description }
}
