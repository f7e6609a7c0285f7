/// Feeds a subject from a publisher; both the subscriber and, for the subject, the subscription.
@usableFromInline
final class SubjectSubscriber<Target: Subject>: Subscriber, FiniteSubscription, CustomStringConvertible,
  CustomReflectable, CustomPlaygroundDisplayConvertible
{
  @usableFromInline
  typealias Input = Target.Output
  @usableFromInline
  typealias Failure = Target.Failure

  @exclusivity(unchecked)
  @usableFromInline
  weak var target: Target?
  @exclusivity(unchecked)
  @usableFromInline
  var up: (any Subscription)?

  @inlinable
  init(_ target: Target) { self.target = target }

  @usableFromInline
  func receive(subscription: any Subscription) {
    guard up == nil, let target else {
      subscription.cancel()
      return
    }
    up = subscription
    target.send(subscription: self)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    if up != nil { target?.send(input) }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    guard up != nil else { return }
    up = nil
    let target = self.target
    self.target = nil
    target?.send(completion: completion)
  }

  @usableFromInline
  var isOver: Bool { up == nil }

  @usableFromInline
  func request(_ demand: Subscribers.Demand) { up?.request(demand) }

  @usableFromInline
  func cancel() {
    let up = self.up
    self.up = nil
    target = nil
    up?.cancel()
  }

  @usableFromInline
  var description: String { "Subject" }
  @usableFromInline
  var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror { Mirror(self, children: ["downstream": target as Any, "upstreamSubscription": up as Any]) }
}
