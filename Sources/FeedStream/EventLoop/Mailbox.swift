import Synchronization

/// What other threads have for a loop, and whether anybody must wake it for that.
///
/// A sender wakes the loop only when it finds the mailbox empty: whoever empties it takes everything. Waking happens
/// outside of the lock, so that the loop does not wake up into a lock that is held; `sendersInFlight` keeps the loop's
/// handle alive meanwhile.
final class Mailbox: Sendable {
  enum Item {
    case work(() -> Void)
    case job(UnownedJob)
  }

  private struct Contents {
    var items: ContiguousArray<Item> = []
    var stopRequested = false
    var isClosed = false
  }

  private enum Receipt { case wake, noNeed, closed }

  private let state = Locked(Contents())
  private let sendersInFlight = Atomic<Int>(0)

  /// Adds an item; `wake` runs when the loop must be woken for it.
  ///
  /// - Returns: whether the item was taken: a closed mailbox refuses.
  func post(_ item: sending Item, wake: () -> Void) -> Bool {
    let receipt = state.withLock { state -> Receipt in
      if state.isClosed { return .closed }
      let wasEmpty = state.items.isEmpty
      state.items.append(item)
      return wasEmpty ? departing() : .noNeed
    }
    deliver(receipt, wake)
    return receipt != .closed
  }

  /// Asks the loop to stop.
  func requestStop(wake: () -> Void) {
    let receipt = state.withLock { state -> Receipt in
      if state.isClosed { return .closed }
      state.stopRequested = true
      return departing()
    }
    deliver(receipt, wake)
  }

  /// Swaps the contents with `items`, which must be empty.
  func collect(into items: inout ContiguousArray<Item>) {
    state.withLock { swap(&$0.items, &items) }
  }

  /// Whether a stop was requested since the last call.
  func takeStopRequest() -> Bool {
    state.withLock { state in
      defer { state.stopRequested = false }
      return state.stopRequested
    }
  }

  /// Refuses everything from now on; returns once no sender is about to wake the loop.
  func close() {
    state.withLock { $0.isClosed = true }
    while sendersInFlight.load(ordering: .acquiring) != 0 {}
  }

  private func departing() -> Receipt {
    sendersInFlight.wrappingAdd(1, ordering: .relaxed)
    return .wake
  }

  private func deliver(_ receipt: Receipt, _ wake: () -> Void) {
    guard receipt == .wake else { return }
    wake()
    sendersInFlight.wrappingSubtract(1, ordering: .releasing)
  }
}
