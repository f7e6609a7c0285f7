/// The end of a stream whose subscriber has an unknown type, with a count of arriving events.
final class MapEnd<Base: Subscriber>: Subscriber, LiveSubscriber, CustomStringConvertible {
  private let base: Base
  let tally = Tally()
  let description: String
  // Weak: the subscription retains this object, just as it would retain the subscriber.
  private weak var subscription: AnyObject?
  private var isOver = false

  init(_ base: Base, named name: String) {
    self.base = base
    description = name
  }

  func receive(subscription: any Subscription) {
    if self.subscription == nil {
      self.subscription = subscription as AnyObject
      LiveMap.here().add(self, nil, tally)
    }
    base.receive(subscription: subscription)
  }

  func receive(_ input: Base.Input) -> Subscribers.Demand {
    tally.note()
    return base.receive(input)
  }

  func receive(completion: Subscribers.Completion<Base.Failure>) {
    isOver = true
    if case .failure(let error) = completion { tally.end(error) } else { tally.end(nil) }
    base.receive(completion: completion)
  }

  var isLive: Bool { !isOver && subscription != nil }
  // The home's list already contains this end.
  var lane: (any StreamLane)? { nil }
  var upstream: AnyObject? { subscription }
  var combineIdentifier: CombineIdentifier { base.combineIdentifier }
}
