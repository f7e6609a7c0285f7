/// A publisher that code outside a stream can send values into.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// What `send(_:)` says of the value: ``Delivery`` for the subjects here, `Void` for one that does not say.
  associatedtype Receipt

  /// Sends a value to the subscribers.
  @discardableResult func send(_ value: Output) -> Receipt

  /// Ends the subject: the subscribers it has, and those to come, receive `completion`.
  func send(completion: Subscribers.Completion<Failure>)

  /// Hands the subject a subscription upstream, to ask for values when somebody wants them.
  func send(subscription: any Subscription)
}

extension Subject where Output == Void {
  /// Sends a signal to the subscribers.
  @discardableResult public func send() -> Receipt { send(()) }
}

/// What became of a value that was sent.
@frozen public struct Delivery: Equatable, Sendable {
  /// How many subscribers received it.
  public var delivered: Int
  /// How many subscribers did not, because they had not asked for it.
  public var dropped: Int
  /// Whether the subject had already ended.
  public var isTerminated: Bool

  @inlinable public init(delivered: Int = 0, dropped: Int = 0, isTerminated: Bool = false) {
    self.delivered = delivered
    self.dropped = dropped
    self.isTerminated = isTerminated
  }

  /// Whether no subscriber received it: nobody is subscribed, nobody had asked, or the subject has ended.
  @inlinable public var isLost: Bool { delivered == 0 }
}

/// A publisher that starts only when told to, so that several subscribers can attach first.
public protocol ConnectablePublisher<Output, Failure>: Publisher {
  /// Starts delivering.
  ///
  /// - Returns: stops delivering, for all subscribers, when cancelled.
  func connect() -> any Cancellable
}
