extension Publisher {
  /// Reduces a predicate's results to one result: the common part of `first(where:)`, `last(where:)`,
  /// `contains(where:)`, `allSatisfy`, and their `try` forms. These operators differ only in their rule.
  @inlinable func reduce<Rule: PredicateRule, Mode: Publishers.FailureMode, S: Subscriber<Rule.Output, Mode.Failure>>(
    by _: Rule.Type, _: Mode.Type, _ predicate: @escaping (Output) throws(Mode.RuleError) -> Bool, into subscriber: S
  ) where Rule.Input == Output, Mode.UpstreamFailure == Failure {
    receive(
      stage: ReduceStage<Output, Rule.Output, Mode>(
        Mode.throwsErrors ? Rule.name : Rule.plainName, ErasedSubscriber(subscriber), Rule.initial,
        Rule.settling
      ) { (result: inout Rule.Output?, value: Output) throws(Mode.RuleError) in
        Rule.settle(&result, value, holds: try predicate(value))
      })
  }
}

/// Turns a predicate's results into an operator's result.
@usableFromInline protocol PredicateRule<Input> {
  associatedtype Input
  associatedtype Output

  static var name: StaticString { get }
  /// The name of the form that doesn't throw; by default, `name`.
  static var plainName: StaticString { get }
  /// The result when there are no values.
  static var initial: Output? { get }
  /// Tells whether a value can settle the result.
  static var settling: Settling { get }
  /// Updates the result with a value and the predicate's result for it; returns true when the result is settled.
  static func settle(_ result: inout Output?, _ value: Input, holds: Bool) -> Bool
}

extension PredicateRule {
  @inlinable static var plainName: StaticString { name }
}
