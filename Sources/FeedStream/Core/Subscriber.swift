/// A type that receives what a ``Publisher`` delivers.
///
/// It is called in this order: one subscription, then values (never more than it has asked for), then at most one
/// completion.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  /// The values it takes.
  associatedtype Input
  /// The errors it takes.
  associatedtype Failure: Error

  /// The publisher accepted this subscriber. Keep `subscription` to ask for values and to cancel.
  func receive(subscription: any Subscription)

  /// A value arrived.
  ///
  /// - Returns: how many more values this subscriber wants, added to what it has asked for and not yet received.
  func receive(_ input: Input) -> Subscribers.Demand

  /// The stream ended; nothing follows.
  func receive(completion: Subscribers.Completion<Failure>)

  /// How many stateless operators are fused into this type. An implementation detail of the operators here, which stop
  /// nesting types at ``Subscribers/fusionLimit``; leave the default of zero in your own subscribers.
  static var fusedStages: Int { get }
}

extension Subscriber {
  @inlinable public static var fusedStages: Int { @inline(__always) get { 0 } }
}

extension Subscriber where Input == Void {
  /// A signal arrived.
  @inlinable public func receive() -> Subscribers.Demand { receive(()) }
}

/// The subscribers, and the vocabulary they share: ``Demand`` and ``Completion``.
public enum Subscribers {}
