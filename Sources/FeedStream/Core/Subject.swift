/// A publisher into which code outside a stream can send values.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// The result of `send(_:)`: ``Delivery`` for the subjects of this library, `Void` for a subject that does not report
  /// deliveries.
  associatedtype Receipt

  /// Sends a value to the subscribers.
  @discardableResult func send(_ value: Output) -> Receipt

  /// Completes the subject: current and later subscribers receive `completion`.
  func send(completion: Subscribers.Completion<Failure>)

  /// Gives the subject an upstream subscription, from which it requests values once a subscriber requests some; a
  /// ``CurrentValueSubject`` requests them immediately.
  func send(subscription: any Subscription)
}

extension Subject where Output == Void {
  /// Sends a signal (a value without content) to the subscribers.
  @discardableResult public func send() -> Receipt { send(()) }
}

extension Subject where Receipt == Delivery {
  /// A form of `send(_:)` without a result, for `sink(receiveValue: subject.send)`.
  @_disfavoredOverload
  @inlinable public func send(_ value: Output) { let _: Delivery = send(value) }

  /// A form of `send()` without a result.
  @_disfavoredOverload
  @inlinable public func send() where Output == Void { let _: Delivery = send(()) }
}

/// The outcome of sending a value: the number of subscribers that received it, and the number that did not.
@frozen public struct Delivery: Equatable, Sendable {
  /// The number of subscribers that received the value.
  public var delivered: Int
  /// The number of subscribers that did not receive the value, because they had not requested it.
  public var dropped: Int
  /// True if the subject had already completed.
  public var isTerminated: Bool

  @inlinable public init(delivered: Int = 0, dropped: Int = 0, isTerminated: Bool = false) {
    self.delivered = delivered
    self.dropped = dropped
    self.isTerminated = isTerminated
  }

  /// True when no subscriber received the value: there were no subscribers, none had requested a value, or the subject
  /// had completed.
  @inlinable public var isLost: Bool { delivered == 0 }
}

/// A publisher that starts only when `connect()` is called, so that several subscribers can attach first.
public protocol ConnectablePublisher<Output, Failure>: Publisher {
  /// Starts delivering.
  ///
  /// - Returns: a cancellable that stops the delivery to all subscribers.
  func connect() -> any Cancellable
}
