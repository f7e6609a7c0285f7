/// A type that receives the events of a ``Publisher``.
///
/// Its methods are called in this order: one subscription, then values (never more than it has requested), then at most
/// one completion.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  /// The type of the values that this subscriber receives.
  associatedtype Input
  /// The type of the failures that this subscriber receives.
  associatedtype Failure: Error

  /// Receives the subscription when the publisher has accepted this subscriber. Keep `subscription` to request values
  /// and to cancel.
  func receive(subscription: any Subscription)

  /// Receives a value.
  ///
  /// - Returns: the number of further values that this subscriber requests; the publisher adds it to the outstanding
  ///   demand.
  func receive(_ input: Input) -> Subscribers.Demand

  /// Receives the completion; nothing follows.
  func receive(completion: Subscribers.Completion<Failure>)

  /// The number of stateless operators that are fused into this type. An implementation detail of the library's
  /// operators, which stop nesting types at ``Subscribers/fusionLimit``. Keep the default of zero in your own
  /// subscribers.
  static var fusedStages: Int { get }
}

extension Subscriber {
  @inlinable public static var fusedStages: Int { @inline(__always) get { 0 } }
}

extension Subscriber where Input == Void {
  /// Receives a signal, a value without content.
  @inlinable public func receive() -> Subscribers.Demand { receive(()) }
}

/// A namespace for the subscribers and for ``Demand`` and ``Completion``.
public enum Subscribers {}
