/// Repeated work that can move from one scheduler to another until it is cancelled.
final class MovableRepetition: Cancellable {
  /// `nil` before the start and after cancellation.
  private let timer = Locked<(any Cancellable)?>(nil)

  var isCancelled: Bool { timer.withLock { $0 == nil } }

  func begin(_ first: any Cancellable) { timer.withLock { $0 = first } }

  /// Continues with `next` and cancels the earlier timer, or else `next` if another thread has cancelled the work.
  func move(to next: any Cancellable) {
    let unneeded = timer.withLock { timer in
      guard let earlier = timer else { return next }
      timer = next
      return earlier
    }
    unneeded.cancel()
  }

  func cancel() { timer.withLock { $0.take() }?.cancel() }
}
