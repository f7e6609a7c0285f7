/// A subscriber of which only what it takes is known, or one made from closures.
@frozen
public struct AnySubscriber<Input, Failure: Error>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline
  let downstream: Downstream<Input, Failure>
  public let combineIdentifier: CombineIdentifier

  /// Wraps `subscriber`.
  @inlinable
  public init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
    if let erased = subscriber as? AnySubscriber<Input, Failure> {
      self = erased
    } else {
      downstream = Downstream(subscriber)
      combineIdentifier = subscriber.combineIdentifier
    }
  }

  /// Sends what arrives into `subject`.
  public init<S: Subject>(_ subject: S) where S.Output == Input, S.Failure == Failure {
    self.init(SubjectSubscriber(subject))
  }

  /// Calls the closures given; a value asks for no more by default.
  public init(
    receiveSubscription: ((any Subscription) -> Void)? = nil,
    receiveValue: ((Input) -> Subscribers.Demand)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil
  ) {
    combineIdentifier = CombineIdentifier()
    downstream = Downstream(
      "Anonymous AnySubscriber", next: receiveValue ?? { _ in .none }, end: receiveCompletion ?? { _ in },
      begin: receiveSubscription ?? { _ in })
  }

  @inlinable
  public func receive(subscription: any Subscription) { downstream.receive(subscription: subscription) }
  @inlinable
  public func receive(_ value: Input) -> Subscribers.Demand { downstream.next(value) }
  @inlinable
  public func receive(completion: Subscribers.Completion<Failure>) { downstream.receive(completion: completion) }

  public var description: String { downstream.label }
  public var playgroundDescription: Any {
    (downstream.subscriber as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription ?? description
  }
  public var customMirror: Mirror {
    let subscriber = downstream.subscriber
    if subscriber is String { return Mirror("", children: EmptyCollection()) }
    return (subscriber as? any CustomReflectable)?.customMirror ?? Mirror(subscriber, children: EmptyCollection())
  }
}
