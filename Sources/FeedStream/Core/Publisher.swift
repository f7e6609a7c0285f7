/// A type that can deliver a sequence of values over time, and then one completion.
///
/// A publisher is a description: nothing happens until a ``Subscriber`` attaches, and every subscription starts from
/// the beginning unless the publisher's documentation says otherwise. Publishers are not `Sendable`: a stream lives on
/// one thread (`CONTRACT.md`, rule 1).
///
/// To write one, implement ``receive(subscriber:)``: give the subscriber a subscription first, then at most as many
/// values as it has requested, then at most one completion. Mark the method `@inlinable` when the publisher is generic
/// and used from other modules: the compiler can then specialize a chain of operators down to its closures.
public protocol Publisher<Output, Failure> {
  /// The type of the values that this publisher delivers.
  associatedtype Output
  /// The type of this publisher's failures; `Never` for a publisher that cannot fail.
  associatedtype Failure: Error

  /// Attaches a subscriber. Don't call this: `subscribe(_:)` does.
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure

  /// Either delivers everything without making a subscription, which would take several allocations, or declines. An
  /// implementation detail of `flatMap`, `switchToLatest` and similar operators. Keep the default, which declines, in
  /// your own publishers.
  ///
  /// - Parameter deliver: receives a value; returns true to accept another.
  /// - Returns: true if all values, or as many as were accepted, have been delivered; false if the publisher declined.
  func _deliverAll(to deliver: (Output) -> Bool) -> Bool

  /// True if everything arrives where the subscriber lives; false if the publisher may deliver on other threads. An
  /// implementation detail of operators, which then protect their state. Keep the default, false, in your own publishers.
  @_documentation(visibility: internal)
  var _deliversAtHome: Bool { get }
}

extension Publisher {
  @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool { false }
  @_documentation(visibility: internal)
  @inlinable public var _deliversAtHome: Bool { false }
}

/// A publisher that delivers everything where its subscriber lives.
@_documentation(visibility: internal)
public protocol _DeliversAtHome: Publisher {}

extension _DeliversAtHome {
  @_documentation(visibility: internal)
  @inlinable public var _deliversAtHome: Bool { true }
}

extension Publisher {
  /// Attaches `subscriber` to this publisher.
  ///
  /// **Demand:** the values that the subscriber requests from its subscription; none is delivered before the request.
  @inlinable public func subscribe<S: Subscriber<Output, Failure>>(_ subscriber: S) {
    if CurrentDomain.hasQueues { CurrentDomain.apart { attach(subscriber) } } else { attach(subscriber) }
  }

  @inlinable @inline(__always) func attach<S: Subscriber<Output, Failure>>(_ subscriber: S) {
    if Introspection.isWatched, attachWatched(subscriber) { return }
    receive(subscriber: subscriber)
  }
}

/// The operators' publishers; each is named after the method that makes it.
public enum Publishers {}
