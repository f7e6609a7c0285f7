extension Publishers {
  /// ``FirstWhere`` and its like, one result made of a predicate's answers: `first(where:)`, `last(where:)`, `contains(where:)`, `allSatisfy` and their
  /// `try` forms. They differ in the ``PredicateRule``.
  @frozen public struct PredicateReduction<Upstream: Publisher, Rule: PredicateRule, Mode: FailureMode>: Publisher
  where Rule.Input == Upstream.Output, Mode.UpstreamFailure == Upstream.Failure {
    public typealias Output = Rule.Output
    public typealias Failure = Mode.Failure
    public typealias Predicate = (Upstream.Output) throws(Mode.RuleError) -> Bool

    public let upstream: Upstream
    public let predicate: Predicate

    @inlinable public init(upstream: Upstream, predicate: @escaping Predicate) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Output, Mode>(
          Mode.throwsErrors ? Rule.name : Rule.plainName, ErasedSubscriber(subscriber), Rule.initial
        ) { [predicate] (result: inout Output?, value: Upstream.Output) throws(Mode.RuleError) in
          Rule.settle(&result, value, holds: try predicate(value))
        })
    }
  }

  /// What an operator makes of its predicate's answers.
  public protocol PredicateRule<Input> {
    associatedtype Input
    associatedtype Output

    static var name: StaticString { get }
    /// The name of the form that does not throw, where it is not the same.
    static var plainName: StaticString { get }
    /// The result when there are no values.
    static var initial: Output? { get }
    /// Takes a value into account for which the predicate holds or does not; returns whether the result is settled.
    static func settle(_ result: inout Output?, _ value: Input, holds: Bool) -> Bool
  }
}

extension Publishers.PredicateRule {
  @inlinable public static var plainName: StaticString { name }
}
