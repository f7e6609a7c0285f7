import Synchronization

/// A subject's path to a subscriber through the gate of a stage below. That stage takes events from several publishers
/// and has no home, so it may request values and cancel on a thread other than the subject's.
///
/// On the subject's thread, requests and the cancellation take effect immediately. On another thread, they wait here
/// until the subject sends its next value. The conduit is used in the gate, and the subject's entry on the subject's
/// thread.
// @unchecked: see above; the other properties are constant, atomic or guarded by a lock.
@usableFromInline final class GatePath: @unchecked Sendable {
  let gate: ThreadGate
  @usableFromInline let entry: GateEntry
  /// The subscriber's subscription, until it releases the entry.
  @exclusivity(unchecked) private(set) var conduit: Conduit?
  private let home = currentThread()
  /// True if the subject belongs to the main queue's code, which other threads may run.
  private let isOfMainQueue = MainQueueCode.isRunning
  private let requests = Mutex(Subscribers.Demand.none)
  @usableFromInline let cancelled = Atomic(false)

  init(_ gate: ThreadGate, of conduit: Conduit) {
    self.gate = gate
    entry = GateEntry(gate)
    self.conduit = conduit
  }

  /// True on the subject's thread.
  var isHere: Bool { currentThread() == home || isOfMainQueue && MainQueueCode.isRunning }

  /// True after a cancellation on a thread other than the subject's.
  @inlinable var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  func collectRequests() -> Subscribers.Demand {
    requests.withLock { requests in
      defer { requests = .none }
      return requests
    }
  }

  // MARK: In the gate

  func request(_ demand: Subscribers.Demand) { requests.withLock { $0 += demand } }

  /// Called when the conduit releases the entry.
  ///
  /// - Returns: true on the subject's thread; otherwise, the entry leaves the subject when the next value is sent.
  func release() -> Bool {
    conduit = nil
    guard isHere else {
      cancelled.store(true, ordering: .releasing)
      return false
    }
    return true
  }
}
