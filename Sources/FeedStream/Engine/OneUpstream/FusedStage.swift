/// The form of a stateless operator: a value that wraps the next subscriber and changes only the values.
///
/// The subscription passes through unchanged, so upstream and the subscriber below handle demand and cancellation
/// between them. If `Failure` differs from the downstream's, the stage has its own `receive(completion:)`.
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
  /// True when the operator above must erase this subscriber. Operators that, unlike `map`, do not fuse with their own
  /// kind must not nest: from three levels on, they are no longer specialized (250 ns per value instead of 6).
  @inlinable static var isFused: Bool { @inline(__always) get { fusedStages > 0 } }

  /// True when a stateless operator above this subscriber must erase it before wrapping it.
  @inlinable static var isFullyFused: Bool { @inline(__always) get { fusedStages >= Subscribers.fusionLimit } }

  /// This subscriber with its type erased: the nesting starts over here.
  @inlinable var erased: ErasedSubscriber<Input, Failure> { ErasedSubscriber(self) }
}

extension FusedStage {
  @usableFromInline var below: Any { downstream }
}
