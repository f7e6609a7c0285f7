import Synchronization

/// Observes every subscription in the process: a debugging aid, as in Combine and OpenCombine.
///
/// Implement the methods you need and call ``enable()``. From then on, every subscription made by
/// ``Publisher/subscribe(_:)-(S)``, and by methods that are built on it (`sink`, `assign` …), is reported until
/// ``disable()``. Earlier subscriptions are not reported. Neither are the operators within a chain, which are not
/// separate subscriptions: use `print` and `handleEvents` to observe them.
///
/// **Cost:** without an observer, one atomic load per subscription and nothing per value; an observed stream is slow.
///
/// **Confinement:** an observer belongs to the whole process and is called on the thread of each stream, so it must be
/// `Sendable`. It is retained until `disable()`.
public protocol _Introspection: AnyObject, Sendable {
  /// Called before a subscriber is attached.
  func willReceive<P: Publisher, S: Subscriber<P.Output, P.Failure>>(publisher: P, subscriber: S)
  /// Called when a subscriber has been attached, and the values that the publisher delivers immediately have arrived.
  func didReceive<P: Publisher, S: Subscriber<P.Output, P.Failure>>(publisher: P, subscriber: S)

  func willReceive<S: Subscriber>(subscriber: S, subscription: any Subscription)
  func didReceive<S: Subscriber>(subscriber: S, subscription: any Subscription)
  func willReceive<S: Subscriber>(subscriber: S, input: S.Input)
  /// - Parameter resultingDemand: the demand that the subscriber returned.
  func didReceive<S: Subscriber>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand)
  func willReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>)
  func didReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>)

  func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand)
  func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand)
  func willCancel(subscription: any Subscription)
  func didCancel(subscription: any Subscription)
}

// By default an observer does nothing.
extension _Introspection {
  public func willReceive<P: Publisher, S: Subscriber<P.Output, P.Failure>>(publisher: P, subscriber: S) {}
  public func didReceive<P: Publisher, S: Subscriber<P.Output, P.Failure>>(publisher: P, subscriber: S) {}
  public func willReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) {}
  public func didReceive<S: Subscriber>(subscriber: S, subscription: any Subscription) {}
  public func willReceive<S: Subscriber>(subscriber: S, input: S.Input) {}
  public func didReceive<S: Subscriber>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand) {}
  public func willReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) {}
  public func didReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>) {}
  public func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {}
  public func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand) {}
  public func willCancel(subscription: any Subscription) {}
  public func didCancel(subscription: any Subscription) {}
}

extension _Introspection {
  /// Starts observing; enabling an observer twice has no further effect.
  public func enable() { Introspection.change { if !$0.contains(where: { $0 === self }) { $0.append(self) } } }

  /// Stops observing all subscriptions, including those that are still active.
  public func disable() { Introspection.change { $0.removeAll { $0 === self } } }

  /// True when this observer is enabled.
  public var isEnabled: Bool { Introspection.observers.contains { $0 === self } }
}

/// Holds the observers of the process's streams.
@usableFromInline enum Introspection {
  // Atomic, because it is read for every subscription: no lock is taken while there are no observers.
  private static let isWatching = Atomic(false)
  private static let state = Mutex<(observers: [any _Introspection], hasMap: Bool)>(([], false))

  /// True while there is an observer, or the live map is on.
  @usableFromInline static var isWatched: Bool { isWatching.load(ordering: .acquiring) }

  static var observers: [any _Introspection] { state.withLock { $0.observers } }

  static func change(_ body: (inout [any _Introspection]) -> Void) {
    state.withLock {
      body(&$0.observers)
      isWatching.store(!$0.observers.isEmpty || $0.hasMap, ordering: .releasing)
    }
  }

  static func mapIs(on: Bool) {
    state.withLock {
      $0.hasMap = on
      isWatching.store(!$0.observers.isEmpty || on, ordering: .releasing)
    }
  }

  /// Calls the observers outside the lock, because an observer may disable itself during the call.
  static func report(_ event: (any _Introspection) -> Void) {
    guard isWatched else { return }
    for observer in observers { event(observer) }
  }
}

extension Publisher {
  /// Attaches `subscriber` and reports its events. This method is not inlinable, because an observed chain is never
  /// specialized anyway, and inlining would enlarge the code of other chains.
  ///
  /// - Returns: false if nothing has happened, because only the map is on, and the map already includes this
  ///   subscriber.
  @inline(never) @usableFromInline
  func attachWatched<S: Subscriber<Output, Failure>>(_ subscriber: S) -> Bool {
    if Introspection.observers.isEmpty { return LiveMap.attach(subscriber, to: self) }
    Introspection.report { $0.willReceive(publisher: self, subscriber: subscriber) }
    // The subscriber is already observed if a publisher passes it on to another publisher.
    if isWatched(subscriber) {
      receive(subscriber: subscriber)
    } else {
      receive(subscriber: Probe(subscriber))
    }
    Introspection.report { $0.didReceive(publisher: self, subscriber: subscriber) }
    return true
  }
}
