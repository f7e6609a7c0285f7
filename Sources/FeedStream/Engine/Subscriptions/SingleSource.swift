/// The subscription of a publisher that has exactly one value, which it delivers with its ending on the first request.
@usableFromInline
final class SingleSource: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible, CustomReflectable {
  private let name: StaticString
  @exclusivity(unchecked) private var deliver: ((SingleSource?) -> Any)?
  @exclusivity(unchecked) private var value: Any?
  /// Whether the ending may still be delivered.
  @exclusivity(unchecked) @usableFromInline private(set) var isActive = true

  /// - Parameter deliver: delivers the value, and then, while `isActive`, the ending; without a source, shows the subscriber.
  @usableFromInline init(_ name: StaticString, _ value: Any, deliver: @escaping (SingleSource?) -> Any) {
    self.name = name
    self.value = value
    self.deliver = deliver
  }

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard let deliver else { return }
    self.deliver = nil
    value = nil
    _ = deliver(self)
    isActive = false
  }

  @usableFromInline func cancel() {
    isActive = false
    deliver = nil
    value = nil
  }

  @usableFromInline var description: String { "\(name)" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, unlabeledChildren: value.map { [$0] } ?? []) }
}

extension SingleSource: Traceable {
  @usableFromInline var below: Any { deliver?(nil) ?? () }
}

extension Subscriber {
  /// Hands over the subscription of a publisher named `name` that delivers `value` and finishes.
  @inlinable func attach(_ name: StaticString, delivering value: Input) {
    let source = SingleSource(name, value) { source in
      guard let source else { return self }
      _ = self.receive(value)
      if source.isActive { self.receive(completion: .finished) }
      return ()
    }
    receive(subscription: source)
  }

  /// Hands over a subscription that has nothing to give, and then the ending.
  @inlinable func attach(ending completion: Subscribers.Completion<Failure>) {
    let subscription = EndingSubscription()
    receive(subscription: subscription)
    if !subscription.isCancelled { receive(completion: completion) }
  }
}

/// A subscription that has only an ending to give, which a subscriber can still refuse.
@usableFromInline
final class EndingSubscription: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible,
  CustomReflectable
{
  @usableFromInline private(set) var isCancelled = false

  @usableFromInline init() {}
  @usableFromInline func request(_ demand: Subscribers.Demand) {}
  @usableFromInline func cancel() { isCancelled = true }
  @usableFromInline var description: String { "Empty" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}
