/// A subject that hands each value sent to whoever is subscribed at that moment.
///
///     sent          --a--b--c--|
///     subscriber      x--b--c--|
///
/// **Demand, policy:** a subscriber that has not asked for a value does not get it; `send(_:)` counts it as dropped,
/// and what is dropped or reaches nobody is reported to ``StreamDiagnostics/onDrop(_:)``. A publisher that feeds the
/// subject is asked for everything once a subscriber asks for anything. **Failure:** the ending sent goes to every
/// subscriber at once, asked for or not, and to those who come later. **Cancellation:** a subscriber's is its own.
/// **Re-entrancy:** a value sent while another is being delivered is delivered at once, before the rest of the
/// subscribers have seen the first. **Confinement:** not `Sendable`; send to it on the thread its subscribers live on.
public final class PassthroughSubject<Output, Failure: Error>: Subject {
  public typealias Receipt = Delivery

  @usableFromInline let conduits: SubscriberList<Output, Failure>

  @inlinable public init() { conduits = SubscriberList("PassthroughSubject") }

  /// A subject that is part of an operator, under whose name its drops are reported.
  @inlinable init(of name: StaticString) { conduits = SubscriberList(name) }

  deinit {
    conduits.abandon()
    if !conduits.isOpen { conduits.completion = nil }
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    conduits.add(subscriber, to: self)
  }

  /// How many are subscribed: who has neither cancelled nor been sent the ending.
  @inlinable public var subscriberCount: Int { conduits.count }

  /// Delivers `value` to the subscribers that have asked for one.
  ///
  /// - Returns: to how many it was delivered, and how many it passed by.
  @inlinable @discardableResult public func send(_ value: Output) -> Delivery { conduits.pass(value) }

  public func send(completion: Subscribers.Completion<Failure>) { conduits.send(completion: completion) }

  public func send(subscription: any Subscription) { conduits.upstreams.add(subscription) }
}

extension PassthroughSubject {
  /// `send(_:)` for where a function without a result is wanted: `sink(receiveValue: subject.send)`.
  @_disfavoredOverload
  @inlinable public func send(_ value: Output) {
    let _: Delivery = send(value)
  }

  /// `send()` for where a function without a result is wanted.
  @_disfavoredOverload
  @inlinable public func send() where Output == Void {
    let _: Delivery = send(())
  }
}
