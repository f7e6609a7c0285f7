import Synchronization

/// Holds the work that other threads post to a loop, and decides when to wake the loop.
///
/// A sender wakes the loop only when it finds the mailbox empty, because the loop always takes all the mail. The sender
/// wakes the loop outside the lock, so that the loop doesn't have to wait for the lock. Meanwhile, `sendersInFlight`
/// keeps the wake-up handle open.
final class Mailbox: Sendable {
  /// The work that has arrived.
  struct Mail: ~Copyable {
    var work = TurnQueue<Action>()
    var jobs = TurnQueue<UnownedJob>()
    var stopRequested = false

    var isEmpty: Bool { work.isEmpty && jobs.isEmpty }
  }

  private struct Contents: ~Copyable {
    var mail = Mail()
    var isClosed = false
  }

  private enum Receipt { case wake, noNeed, closed }

  private let state = Locked(Contents())
  private let sendersInFlight = Atomic<Int>(0)

  /// Adds work; `wake` runs when the loop must be woken for it.
  ///
  /// - Returns: false if the mailbox is closed; the work is then refused.
  func post(_ add: (inout Mail) -> Void, wake: () -> Void) -> Bool {
    let receipt = state.withLock { state -> Receipt in
      if state.isClosed { return .closed }
      let wasEmpty = state.mail.isEmpty
      add(&state.mail)
      return wasEmpty ? departing() : .noNeed
    }
    deliver(receipt, wake)
    return receipt != .closed
  }

  /// Requests that the loop stop.
  func requestStop(wake: () -> Void) {
    let receipt = state.withLock { state -> Receipt in
      if state.isClosed { return .closed }
      state.mail.stopRequested = true
      return departing()
    }
    deliver(receipt, wake)
  }

  /// Swaps the contents with `mail`, which must be empty.
  func collect(into mail: inout Mail) {
    state.withLock { swap(&$0.mail, &mail) }
  }

  /// True if a stop has been requested since the last call.
  func takeStopRequest() -> Bool {
    state.withLock { state in
      defer { state.mail.stopRequested = false }
      return state.mail.stopRequested
    }
  }

  /// Refuses everything from now on; returns when no sender is about to wake the loop.
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
