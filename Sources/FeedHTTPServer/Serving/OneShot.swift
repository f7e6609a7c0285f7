internal import FeedStream

/// Work that runs once, later, unless cancelled.
struct OneShot: Cancellable {
  private let timer: any Cancellable

  init(_ scheduler: any LoopScheduler, after delay: StreamInstant.Stride, _ action: @escaping () -> Void) {
    var timer: (any Cancellable)?
    // A scheduler takes back repeating work alone; it ends with its first turn.
    let date = scheduler.now.advanced(by: delay)
    timer = scheduler.schedule(after: date, interval: max(delay, .seconds(1))) {
      timer?.cancel()
      timer = nil
      action()
    }
    self.timer = timer!
  }

  func cancel() { timer.cancel() }
}
