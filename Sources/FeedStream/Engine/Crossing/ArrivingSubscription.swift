/// A subscription on the way to its subscriber's home. If the stream is cancelled in the meantime, the subscription is
/// dropped on arrival. Its publisher must be informed, because nothing else holds the subscription.
final class ArrivingSubscription {
  private var subscription: (any Subscription)?
  /// The path to the publisher, if it delivers elsewhere.
  private let crossing: HomePair?

  private init(_ subscription: any Subscription, _ crossing: HomePair?) {
    self.subscription = subscription
    self.crossing = crossing
  }

  deinit {
    if let subscription { crossing.cancel(subscription) }
  }

  /// An event that passes `subscription` to `accept`, or cancels it if the event is dropped.
  static func event(
    _ subscription: any Subscription, through crossing: HomePair? = nil,
    _ accept: @escaping (any Subscription) -> Void
  ) -> () -> Void {
    let arriving = ArrivingSubscription(subscription, crossing)
    return { if let subscription = arriving.subscription.take() { accept(subscription) } }
  }
}
