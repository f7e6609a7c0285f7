extension Publisher {
  /// Subscribes to one result made of a predicate's answers: what `first(where:)`, `last(where:)`, `contains(where:)`,
  /// `allSatisfy` and their `try` forms share. They differ in the rule.
  @inlinable func reduce<Rule: PredicateRule, Mode: Publishers.FailureMode, S: Subscriber>(
    by _: Rule.Type, _: Mode.Type, _ predicate: @escaping (Output) throws(Mode.RuleError) -> Bool, into subscriber: S
  )
  where
    Rule.Input == Output, Rule.Output == S.Input, Mode.UpstreamFailure == Failure, Mode.Failure == S.Failure
  {
    receive(
      subscriber: ReduceStage<Output, Rule.Output, Mode>(
        Mode.throwsErrors ? Rule.name : Rule.plainName, ErasedSubscriber(subscriber), Rule.initial
      ) { (result: inout Rule.Output?, value: Output) throws(Mode.RuleError) in
        Rule.settle(&result, value, holds: try predicate(value))
      })
  }
}

/// How an operator takes its predicate's answers.
@usableFromInline protocol PredicateRule<Input> {
  associatedtype Input
  associatedtype Output

  static var name: StaticString { get }
  /// The name of the form that does not throw, where it is not the same.
  static var plainName: StaticString { get }
  /// The result when there are no values.
  static var initial: Output? { get }
  /// Takes a value into account for which the predicate holds or does not; returns true when the result is settled.
  static func settle(_ result: inout Output?, _ value: Input, holds: Bool) -> Bool
}

extension PredicateRule {
  @inlinable static var plainName: StaticString { name }
}
