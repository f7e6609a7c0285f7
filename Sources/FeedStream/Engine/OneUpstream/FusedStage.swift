/// The shape of a stateless operator: a value that wraps the next subscriber and hands everything but values through.
///
/// The subscription passes through untouched, so demand, cancellation and the rules are between the upstream and the
/// subscriber below. Where `Failure` differs from the downstream's, the stage has `receive(completion:)` of its own.
@usableFromInline
protocol FusedStage<Downstream>: Subscriber, Traceable, CustomStringConvertible, CustomPlaygroundDisplayConvertible,
  CustomReflectable
{
  associatedtype Downstream: Subscriber
  associatedtype Input = Downstream.Input
  associatedtype Failure = Downstream.Failure
  var downstream: Downstream { get }
}

extension FusedStage {
  @inlinable func receive(subscription: any Subscription) { downstream.receive(subscription: subscription) }

  @inlinable static var fusedStages: Int { @inline(__always) get { Downstream.fusedStages + 1 } }

  @usableFromInline var combineIdentifier: CombineIdentifier { downstream.combineIdentifier }
  @usableFromInline var description: String { operatorName(of: Self.self) }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

extension FusedStage where Failure == Downstream.Failure {
  @inlinable func receive(completion: Subscribers.Completion<Failure>) { downstream.receive(completion: completion) }
}

extension Subscriber {
  /// Whether an operator above this subscriber that does not fuse with its own kind, as `map` does with `map`, must erase
  /// it before wrapping it: nested three times in itself, a stage is no longer specialized (250 ns a value in place of 6).
  @inlinable static var isFused: Bool { @inline(__always) get { fusedStages > 0 } }

  /// Whether a stateless operator above this subscriber must erase it before wrapping it.
  @inlinable static var isFullyFused: Bool { @inline(__always) get { fusedStages >= Subscribers.fusionLimit } }

  /// This subscriber with its type erased: where nesting starts afresh.
  @inlinable var erased: ErasedSubscriber<Input, Failure> { ErasedSubscriber(self) }
}

extension FusedStage {
  @usableFromInline var below: Any { downstream }
}
