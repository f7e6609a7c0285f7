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
  public static var empty: any Subscription { EmptySubscription.shared }
}

@usableFromInline
final class EmptySubscription: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible,
  CustomReflectable, Sendable
{
  static let shared = EmptySubscription()

  @usableFromInline func request(_ demand: Subscribers.Demand) {}
  @usableFromInline func cancel() {}
  @usableFromInline var description: String { "Empty" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}
