/// Connects a publisher and a subscriber. The subscriber uses it to request values and to cancel the stream.
///
/// After `cancel()` returns, nothing is delivered through this subscription (`CONTRACT.md`, rule 6).
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  /// Allows the publisher to deliver `demand` more values. Demands are additive.
  ///
  /// - Precondition: `demand` is more than zero.
  func request(_ demand: Subscribers.Demand)

  /// True for a subscription of this library whose values all arrive in the stream's home. Don't implement this
  /// property.
  @_documentation(visibility: internal)
  var _isConfined: Bool { get }
}

extension Subscription {
  @_documentation(visibility: internal)
  @inlinable public var _isConfined: Bool { false }
}

/// Ready-made subscriptions.
public enum Subscriptions {
  /// A subscription that delivers no values, for publishers that only complete.
  public static var empty: any Subscription { EmptySubscription() }
}

/// A subscription that delivers only a completion, unless it is cancelled first.
@usableFromInline class EmptySubscription: GuardedSubscription {
  @usableFromInline private(set) var isCancelled = false

  @usableFromInline override init() {}

  override func cancelled() { isCancelled = true }
  override var takesNone: Bool { true }
  override var description: String { "Empty" }
}

/// The subscription of an `Empty` that never completes.
@usableFromInline final class NeverSubscription: EmptySubscription {
  @usableFromInline override init() {
    super.init()
    // A stage that joins this stream with publishers on queues may cancel it on a queue.
    confinement = .anywhere
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.demand = .unlimited
    facts.reason = "it neither delivers nor completes"
    facts.isOver = isCancelled
  }
}

extension Subscriber {
  /// Delivers a subscription without values, and then the completion.
  @inlinable func attach(ending completion: Subscribers.Completion<Failure>) {
    let subscription = EmptySubscription()
    receive(subscription: subscription)
    if !subscription.isCancelled { receive(completion: completion) }
  }
}
