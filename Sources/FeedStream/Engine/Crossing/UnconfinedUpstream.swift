import Synchronization

/// A stage's or sink's subscription to an upstream that may deliver on any thread, because its publisher is a user's.
///
/// The first event tells on which thread upstream delivers. A cancellation on another thread must not touch what that
/// thread is using: it only cancels upstream. What the stage holds is released with the stage.
///
/// Values cost nothing: only the first event is slower.
// @unchecked: the atomics and the lock are for all threads.
@usableFromInline final class UnconfinedUpstream: Subscription, @unchecked Sendable {
  /// The thread of the first event; 0 before it.
  private let thread = Atomic<UInt>(0)
  private let isRevoked = Atomic(false)
  private let upstream: Locked<(any Subscription)?>
  @usableFromInline let combineIdentifier: CombineIdentifier

  init(_ upstream: any Subscription) {
    self.upstream = Locked(Carried(uncheckedly: upstream).value)
    combineIdentifier = upstream.combineIdentifier
  }

  // MARK: The thread of upstream

  /// Called at the first event.
  ///
  /// - Returns: false if it must be ignored, because the stream was cancelled before it.
  func begin() -> Bool {
    // Stored before the other is read, as `mayTouch()` does the other way round: one of the two sees the other.
    thread.store(currentThread(), ordering: .sequentiallyConsistent)
    return !isRevoked.load(ordering: .sequentiallyConsistent)
  }

  // MARK: Any thread

  /// Called at a cancellation.
  ///
  /// - Returns: true if the calling thread may use what belongs to the stage.
  func mayTouch() -> Bool {
    isRevoked.store(true, ordering: .sequentiallyConsistent)
    let thread = thread.load(ordering: .sequentiallyConsistent)
    return (thread == 0 || thread == currentThread()) && !isShared
  }

  /// True if threads take turns in upstream.
  var isShared: Bool { (current as? GuardedSubscription)?.isShared ?? false }

  /// The subscription; `nil` when it is over.
  var current: (any Subscription)? { upstream.withLock { Carried(uncheckedly: $0) }.value }

  @usableFromInline func request(_ demand: Subscribers.Demand) { current?.request(demand) }

  @usableFromInline func cancel() {
    let upstream = upstream.withLock { Carried(uncheckedly: $0.take()) }.value
    upstream?.cancel()
  }

  /// Upstream is over, or another one follows.
  func replace(with subscription: (any Subscription)?) {
    let subscription = Carried(uncheckedly: subscription)
    // The old one is released outside of the lock.
    _ = upstream.withLock { upstream in
      defer { upstream = subscription.value }
      return Carried(uncheckedly: upstream)
    }
  }
}

extension UnconfinedUpstream: MapMember {
  @usableFromInline var description: String { current.map { String(describing: $0) } ?? "a publisher" }

  @usableFromInline func tell(_ facts: inout StreamFacts) {
    facts.isTransparent = true
    facts.upstreams = [current].compactMap { $0 }
  }
}
