/// The connection between a publisher and a subscriber: the subscriber's means to ask for values and to stop them.
///
/// After `cancel()` returns, nothing is delivered through this subscription (`CONTRACT.md`, rule 6).
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  /// Tells the publisher that it may deliver `demand` more values. Demands add up.
  ///
  /// - Precondition: `demand` is more than zero.
  func request(_ demand: Subscribers.Demand)
}

/// Ready-made subscriptions.
public enum Subscriptions {
  /// A subscription that delivers nothing: for publishers that have only an ending to give.
  public static var empty: any Subscription { EmptySubscription() }
}

/// A subscription that has nothing but an ending to give, which a subscriber can still refuse.
@usableFromInline final class EmptySubscription: GuardedSubscription {
  @usableFromInline private(set) var isCancelled = false

  @usableFromInline override init() {}

  override func cancelled() { isCancelled = true }
  override var takesNone: Bool { true }
  override var description: String { "Empty" }
}

extension Subscriber {
  /// Hands over a subscription that has nothing to give, and then the ending.
  @inlinable func attach(ending completion: Subscribers.Completion<Failure>) {
    let subscription = EmptySubscription()
    receive(subscription: subscription)
    if !subscription.isCancelled { receive(completion: completion) }
  }
}
