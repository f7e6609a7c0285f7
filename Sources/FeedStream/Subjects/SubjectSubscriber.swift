/// Feeds a subject from a publisher; both the subscriber and, for the subject, the subscription.
final class SubjectSubscriber<Target: Subject>: Subscriber, Subscription, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  typealias Input = Target.Output
  typealias Failure = Target.Failure

  private weak var target: Target?
  private var up: (any Subscription)?

  init(_ target: Target) { self.target = target }

  func receive(subscription: any Subscription) {
    guard up == nil, let target else { return }
    up = subscription
    target.send(subscription: self)
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    if up != nil { target?.send(input) }
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    guard up != nil else { return }
    up = nil
    let target = self.target
    self.target = nil
    target?.send(completion: completion)
  }

  func request(_ demand: Subscribers.Demand) { up?.request(demand) }

  func cancel() {
    let up = self.up
    self.up = nil
    target = nil
    up?.cancel()
  }

  var description: String { "Subject" }
  var playgroundDescription: Any { description }
  var customMirror: Mirror { Mirror(self, children: ["downstream": target as Any, "upstreamSubscription": up as Any]) }
}
