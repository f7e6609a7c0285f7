/// A subscriber whose concrete type is hidden, or one made from closures.
@frozen
public struct AnySubscriber<Input, Failure: Error>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline let downstream: ErasedSubscriber<Input, Failure>
  public let combineIdentifier: CombineIdentifier

  /// Wraps `subscriber`.
  @inlinable public init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
    if let erased = subscriber as? AnySubscriber<Input, Failure> {
      self = erased
    } else {
      downstream = ErasedSubscriber(subscriber)
      combineIdentifier = subscriber.combineIdentifier
    }
  }

  /// Makes a subscriber from closures. By default, it requests no more values after receiving one.
  @inlinable public init(
    receiveSubscription: ((any Subscription) -> Void)? = nil,
    receiveValue: ((Input) -> Subscribers.Demand)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil
  ) {
    let subscriber = AnonymousSubscriber(receiveSubscription, receiveValue, receiveCompletion)
    downstream = ErasedSubscriber(subscriber)
    combineIdentifier = subscriber.combineIdentifier
  }

  @inlinable public func receive(subscription: any Subscription) { downstream.receive(subscription: subscription) }
  @inlinable public func receive(_ value: Input) -> Subscribers.Demand { downstream.receive(value) }
  @inlinable
  public func receive(completion: Subscribers.Completion<Failure>) { downstream.receive(completion: completion) }

  public var description: String { downstream.description }
  public var playgroundDescription: Any {
    (downstream.subscriber as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription ?? description
  }
  public var customMirror: Mirror {
    let subscriber = downstream.subscriber
    return (subscriber as? any CustomReflectable)?.customMirror ?? Mirror(subscriber, children: EmptyCollection())
  }
}

/// A subscriber made from closures.
@frozen @usableFromInline
struct AnonymousSubscriber<Input, Failure: Error>: Subscriber, CustomStringConvertible, CustomReflectable {
  @usableFromInline let combineIdentifier = CombineIdentifier()
  @usableFromInline let receiveSubscription: ((any Subscription) -> Void)?
  @usableFromInline let receiveValue: ((Input) -> Subscribers.Demand)?
  @usableFromInline let receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?

  @inlinable init(
    _ receiveSubscription: ((any Subscription) -> Void)?, _ receiveValue: ((Input) -> Subscribers.Demand)?,
    _ receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?
  ) {
    self.receiveSubscription = receiveSubscription
    self.receiveValue = receiveValue
    self.receiveCompletion = receiveCompletion
  }

  @inlinable func receive(subscription: any Subscription) { receiveSubscription?(subscription) }
  @inlinable func receive(_ value: Input) -> Subscribers.Demand { receiveValue?(value) ?? .none }
  @inlinable func receive(completion: Subscribers.Completion<Failure>) { receiveCompletion?(completion) }

  @usableFromInline var description: String { "Anonymous AnySubscriber" }
  @usableFromInline var customMirror: Mirror { Mirror("", children: EmptyCollection()) }
}

extension AnySubscriber: Traceable {
  @usableFromInline var below: Any { downstream.subscriber }
}
