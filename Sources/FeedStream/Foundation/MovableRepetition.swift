internal import Dispatch
import Foundation

/// Repeated work on the main queue that can move to the main run loop, until it is cancelled. Any thread may cancel it.
final class MovableRepetition: Cancellable {
  private struct State {
    /// `nil` before the start and after cancellation.
    var timer: (any Cancellable)?
    var hasMoved = false
  }

  private let state = Locked(State())

  var isCancelled: Bool { state.withLock { $0.timer == nil } }

  func begin(_ first: any Cancellable) { state.withLock { $0.timer = first } }

  /// Continues with `next` and cancels the earlier timer, or else `next` if another thread has cancelled the work.
  /// Called on the main thread.
  func move(to next: any Cancellable) {
    let unneeded = state.withLock { state in
      guard let earlier = state.timer else { return next }
      state = State(timer: next, hasMoved: true)
      return earlier
    }
    unneeded.cancel()
  }

  func cancel() {
    let (timer, hasMoved) = state.withLock { state in (state.timer.take(), state.hasMoved) }
    guard let timer else { return }
    // A run loop's timer may be cancelled only on the run loop's thread.
    guard hasMoved, !Foundation.Thread.isMainThread else { return timer.cancel() }
    let carried = Carried(uncheckedly: timer)
    DispatchQueue.main.async { carried.value.cancel() }
  }
}
