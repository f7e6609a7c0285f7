import Synchronization

/// Resolves the race between a subscription's arrival and a cancellation on another thread.
@usableFromInline struct Arrival: ~Copyable {
  private let state = Atomic(State.awaited)

  private enum State: UInt8, AtomicRepresentable {
    case awaited, arrived, cancelled
  }

  @usableFromInline init() {}

  /// True once the subscription has arrived: properties that were stored before ``arrive()`` may then be read.
  var hasArrived: Bool { state.load(ordering: .acquiring) == .arrived }

  /// Called when the subscriber has stored its subscription.
  ///
  /// - Returns: false if the subscriber has been cancelled in the meantime; in that case, cancel the subscription.
  func arrive() -> Bool { state.exchange(.arrived, ordering: .acquiringAndReleasing) != .cancelled }

  /// Called when the subscriber is cancelled.
  ///
  /// - Returns: false if the subscription hasn't arrived; ``arrive()`` will then report that it isn't needed.
  func mayCancel() -> Bool {
    switch state.load(ordering: .acquiring) {
    case .arrived: return true
    case .cancelled: return false
    case .awaited:
      guard state.exchange(.cancelled, ordering: .acquiringAndReleasing) == .arrived else { return false }
      state.store(.arrived, ordering: .releasing)
      return true
    }
  }
}
