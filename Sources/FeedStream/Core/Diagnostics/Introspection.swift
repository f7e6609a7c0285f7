import Synchronization

/// Watches every subscription of the process: a debugging aid, for people who come from Combine and OpenCombine.
///
/// Implement what you want to see and call ``enable()``. From then on every subscription made by
/// ``Publisher/subscribe(_:)-(S)``, and by what is built on it (`sink`, `assign` …), is reported until ``disable()``; one
/// made earlier is not. The operators within a chain are not subscriptions of their own: `print` and `handleEvents` look
/// between them.
///
/// **Cost:** while nobody watches, one look at an atomic per subscription and nothing per value; a watched stream is slow.
///
/// **Confinement:** the observers are the process's, so each is told on whatever thread a stream lives on, which is why it
/// must be `Sendable`. It is kept until `disable()`.
public protocol _Introspection: AnyObject, Sendable {
  /// A subscriber is about to be attached.
  func willReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
  where P.Output == S.Input, P.Failure == S.Failure
  /// A subscriber has been attached; what the publisher delivered at once has been delivered.
  func didReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
  where P.Output == S.Input, P.Failure == S.Failure

  func willReceive<S: Subscriber>(subscriber: S, subscription: any Subscription)
  func didReceive<S: Subscriber>(subscriber: S, subscription: any Subscription)
  func willReceive<S: Subscriber>(subscriber: S, input: S.Input)
  /// - Parameter resultingDemand: what the subscriber asked for in return.
  func didReceive<S: Subscriber>(subscriber: S, input: S.Input, resultingDemand: Subscribers.Demand)
  func willReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>)
  func didReceive<S: Subscriber>(subscriber: S, completion: Subscribers.Completion<S.Failure>)

  func willRequest(subscription: any Subscription, _ demand: Subscribers.Demand)
  func didRequest(subscription: any Subscription, _ demand: Subscribers.Demand)
  func willCancel(subscription: any Subscription)
  func didCancel(subscription: any Subscription)
}

// By default an observer looks away.
extension _Introspection {
  public func willReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
  where P.Output == S.Input, P.Failure == S.Failure {}
  public func didReceive<P: Publisher, S: Subscriber>(publisher: P, subscriber: S)
  where P.Output == S.Input, P.Failure == S.Failure {}
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
  /// Begins to watch; enabled twice, an observer is told once.
  public func enable() { Introspection.change { if !$0.contains(where: { $0 === self }) { $0.append(self) } } }

  /// Stops watching, those subscriptions too that are under way.
  public func disable() { Introspection.change { $0.removeAll { $0 === self } } }

  /// Whether this observer is told of subscriptions.
  public var isEnabled: Bool { Introspection.observers.contains { $0 === self } }
}

/// Who watches the streams of the process.
@usableFromInline enum Introspection {
  // Looked at for every subscription: an atomic, so that nobody pays for a lock who does not watch.
  private static let isWatching = Atomic(false)
  private static let state = Mutex<[any _Introspection]>([])

  @usableFromInline static var isWatched: Bool { isWatching.load(ordering: .acquiring) }

  static var observers: [any _Introspection] { state.withLock { $0 } }

  static func change(_ body: (inout [any _Introspection]) -> Void) {
    state.withLock {
      body(&$0)
      isWatching.store(!$0.isEmpty, ordering: .releasing)
    }
  }

  /// Tells the observers, outside of the lock: one may disable itself for what it sees.
  static func report(_ event: (any _Introspection) -> Void) {
    guard isWatched else { return }
    for observer in observers { event(observer) }
  }
}

extension Publisher {
  /// Attaches `subscriber` and reports what passes. Not inlinable: a watched chain is never specialized, nor does it make
  /// those that are not watched any larger.
  @inline(never) @usableFromInline
  func attachWatched<S: Subscriber>(_ subscriber: S) where S.Input == Output, S.Failure == Failure {
    Introspection.report { $0.willReceive(publisher: self, subscriber: subscriber) }
    // A publisher that hands its subscriber on to another has it watched already.
    if isWatched(subscriber) {
      receive(subscriber: subscriber)
    } else {
      receive(subscriber: Probe(subscriber))
    }
    Introspection.report { $0.didReceive(publisher: self, subscriber: subscriber) }
  }
}
