/// A subject that delivers each value to its current subscribers.
///
///     sent          --a--b--c--|
///     subscriber      x--b--c--|
///
/// **Demand, policy:** a subscriber that has not requested a value does not receive it; `send(_:)` counts it as
/// dropped. A value that is dropped or has no subscriber is reported to ``StreamDiagnostics/onDrop(_:)``. Once a
/// subscriber requests anything, everything is requested from a publisher that feeds the subject. **Failure:** the
/// completion goes to every subscriber immediately, whether requested or not, and to later subscribers.
/// **Cancellation:** a subscriber cancels only its own subscription. **Re-entrancy:** a value sent while another is
/// being delivered is delivered immediately, before the remaining subscribers have received the earlier value.
/// **Confinement:** not `Sendable`; send on the thread of its subscribers, and elsewhere through `sender(on:)`.
public final class PassthroughSubject<Output, Failure: Error>: Subject, _DeliversAtHome {
  public typealias Receipt = Delivery

  @usableFromInline let conduits: SubscriberList<Output, Failure>

  /// Makes a subject.
  ///
  /// - Parameters:
  ///   - file: identifies the subject in warnings, together with `line`.
  ///   - line: the line in the file.
  @inlinable public init(file: StaticString = #fileID, line: UInt = #line) {
    conduits = SubscriberList("PassthroughSubject", at: SourcePlace(file, line))
  }

  /// The form of `init(file:line:)` that takes no parameters, for `multicast(PassthroughSubject.init)`.
  @_documentation(visibility: internal) @_disfavoredOverload
  @inlinable public convenience init() { self.init(file: "PassthroughSubject", line: 0) }

  /// Makes a subject that is part of an operator; drops are reported under the operator's name.
  @inlinable package init(of name: StaticString) { conduits = SubscriberList(name) }

  deinit {
    conduits.abandon()
    if !conduits.isOpen { conduits.completion = nil }
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    conduits.add(subscriber, to: self)
  }

  /// The number of subscribers: those that have neither cancelled nor received the completion.
  @inlinable public var subscriberCount: Int { conduits.count }

  /// Delivers `value` to the subscribers that have requested a value.
  ///
  /// - Returns: the number of subscribers that received the value, and the number that missed it.
  @inlinable @discardableResult public func send(_ value: Output) -> Delivery { conduits.pass(value) }

  public func send(completion: Subscribers.Completion<Failure>) { conduits.send(completion: completion) }

  public func send(subscription: any Subscription) { conduits.upstreams.add(subscription) }
}
