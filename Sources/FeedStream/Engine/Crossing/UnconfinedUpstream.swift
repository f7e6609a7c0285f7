import Synchronization

/// Protects a stage, a sink or a published property from an upstream that may deliver on any thread: a user's
/// publisher.
///
/// The first event shows on which thread upstream delivers. A cancellation on another thread must not touch the state
/// that upstream's thread is using, so the cancellation only cancels upstream. The values that the stage holds are
/// released with the stage.
///
/// **Cost:** nothing per value; only the first event is slower.
// @unchecked: all properties are atomic or guarded by a lock.
@usableFromInline final class UnconfinedUpstream: CancellationGate, @unchecked Sendable {
  private struct State {
    var subscription: (any Subscription)?
    /// The gate above the subscription, which remains in use after the subscription has completed.
    var gate: (any EntryGate)?
    /// The number of the subscription: a stage that subscribes again has several.
    var number = 0
  }

  /// The thread of the first event; 0 before that event.
  private let thread = Atomic<UInt>(0)
  private let isRevoked = Atomic(false)
  private let state = Locked(State())

  /// Takes `subscription`, which replaces an earlier one.
  ///
  /// - Returns: the subscription to use instead. Releasing it also releases `subscription`.
  func attach(_ subscription: any Subscription) -> UnconfinedSubscription {
    let carried = Carried(uncheckedly: subscription)
    let (number, earlier) = state.withLock { state in
      state.number += 1
      let earlier = Carried(uncheckedly: state.subscription)
      state.subscription = carried.value
      // A cast to a protocol takes five times as long as one to a class.
      let bearer = (carried.value as? GuardedSubscription) ?? (carried.value as? any GateBearer)
      state.gate = bearer?.gateAbove ?? state.gate
      return (state.number, earlier)
    }
    // Release the earlier subscription outside of the lock.
    discard(earlier)
    return UnconfinedSubscription(self, number, subscription.combineIdentifier)
  }

  // MARK: Upstream's thread

  /// Called at the first event.
  ///
  /// - Returns: false if the event must be ignored, because the stream had already been cancelled.
  func begin() -> Bool {
    // Store `thread`, then read `isRevoked`; `touch(_:)` does so in the opposite order. At least one of the two methods
    // sees the other's store.
    thread.store(currentThread(), ordering: .sequentiallyConsistent)
    return !isRevoked.load(ordering: .sequentiallyConsistent)
  }

  // MARK: Any thread

  @usableFromInline func touch(_ cancel: () -> Void) -> Bool {
    isRevoked.store(true, ordering: .sequentiallyConsistent)
    let thread = thread.load(ordering: .sequentiallyConsistent)
    guard thread == 0 || thread == currentThread() else { return false }
    guard thread != 0, let gate = gateAbove else {
      cancel()
      return true
    }
    // Another thread may deliver at any moment, although this one delivered first.
    guard gate.enter() else { return false }
    cancel()
    gate.leave()
    return true
  }

  @usableFromInline func cancelUpstream() { take()?.cancel() }

  @inline(never) @usableFromInline func releaseUpstream() { discard(take()) }

  @usableFromInline var gateAbove: (any EntryGate)? { state.withLock { $0.gate } }

  @usableFromInline var mayBeRead: Bool {
    let thread = thread.load(ordering: .relaxed)
    return thread == 0 || thread == currentThread()
  }

  /// The subscription; `nil` when it is over.
  var current: (any Subscription)? { state.withLock { Carried(uncheckedly: $0.subscription) }.value }

  /// - Parameter number: the number of the subscription to take; `nil` means any.
  fileprivate func take(_ number: Int? = nil) -> (any Subscription)? {
    state.withLock { state in
      Carried(uncheckedly: number == nil || number == state.number ? state.subscription.take() : nil)
    }
    .value
  }
}

/// A subscription to an ``UnconfinedUpstream``.
@usableFromInline final class UnconfinedSubscription: GuardedSubscription, FiniteSubscription {
  private let upstream: UnconfinedUpstream
  private let number: Int
  private let identifier: CombineIdentifier

  fileprivate init(_ upstream: UnconfinedUpstream, _ number: Int, _ identifier: CombineIdentifier) {
    self.upstream = upstream
    self.number = number
    self.identifier = identifier
    super.init()
    confinement = .anywhere
  }

  deinit { _ = upstream.take(number) }

  @usableFromInline var isOver: Bool { upstream.current == nil }

  /// Passes on a request for zero values.
  override var takesNone: Bool { true }
  override func requested(_ demand: Subscribers.Demand) { upstream.current?.request(demand) }
  override func cancelled() { upstream.current?.cancel() }

  override func tell(_ facts: inout StreamFacts) {
    facts.isTransparent = true
    facts.upstreams = [upstream.current].compactMap { $0 }
  }

  override var combineIdentifier: CombineIdentifier { identifier }
  override var description: String { upstream.current.map { String(describing: $0) } ?? "a publisher" }
}
