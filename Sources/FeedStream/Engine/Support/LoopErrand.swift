/// Work in transit to another home, which may be closed before it arrives: one of two closures runs, once.
// @unchecked: run by that home, or released by nobody who has run it.
final class LoopErrand: @unchecked Sendable {
  private let work: () -> Void
  private let dropped: () -> Void
  private var hasRun = false

  /// - Parameters:
  ///   - work: runs when the errand arrives.
  ///   - dropped: runs instead when the errand is released without having arrived.
  init(_ work: @escaping () -> Void, dropped: @escaping () -> Void) {
    self.work = work
    self.dropped = dropped
  }

  func run() {
    hasRun = true
    work()
  }

  deinit { if !hasRun { dropped() } }
}

extension StreamDomain {
  /// Runs `work` here, later; `dropped` instead, if the domain is closed. Safe from any thread.
  // Not inlined: what a closed loop drops is released here, not later.
  @inline(never)
  func bring(_ work: @escaping @Sendable () -> Void, dropped: @escaping @Sendable () -> Void) {
    let errand = LoopErrand(work, dropped: dropped)
    bring { [errand = consume errand] in errand.run() }
  }
}
