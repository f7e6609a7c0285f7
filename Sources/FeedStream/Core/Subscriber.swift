/// A type that receives what a ``Publisher`` delivers.
///
/// Its methods are called in this order: one subscription, then values (never more than it has requested), then at most
/// one completion.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  /// The values it takes.
  associatedtype Input
  /// The errors it takes.
  associatedtype Failure: Error

  /// The publisher accepted this subscriber. Keep `subscription` to request values and to cancel.
  func receive(subscription: any Subscription)

  /// A value arrived.
  ///
  /// - Returns: how many more values this subscriber wants; the publisher adds this to the outstanding demand.
  func receive(_ input: Input) -> Subscribers.Demand

  /// The stream ended; nothing follows.
  func receive(completion: Subscribers.Completion<Failure>)

  /// The number of stateless operators that are fused into this type. An implementation detail of the library's operators, which
  /// stop nesting types at ``Subscribers/fusionLimit``. Keep the default of zero in your own subscribers.
  static var fusedStages: Int { get }
}

extension Subscriber {
  @inlinable public static var fusedStages: Int { @inline(__always) get { 0 } }
}

extension Subscriber where Input == Void {
  /// A signal without a value arrived.
  @inlinable public func receive() -> Subscribers.Demand { receive(()) }
}

/// A namespace for the subscribers and for ``Demand`` and ``Completion``.
public enum Subscribers {}
