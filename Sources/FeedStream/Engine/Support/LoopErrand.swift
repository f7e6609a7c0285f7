/// Work in transit to another home, which may be closed before the work arrives. One of two closures runs, once.
// @unchecked: either the home runs it, or the last owner releases it; never both at once.
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
  /// Schedules `work` to run in this domain; runs `dropped` if the domain is closed. Safe to use from any thread.
  // Not inlined, so that work dropped by a closed loop is released here and not later.
  @inline(never)
  func bring(_ work: @escaping @Sendable () -> Void, dropped: @escaping @Sendable () -> Void) {
    let errand = LoopErrand(work, dropped: dropped)
    bring { [errand = consume errand] in errand.run() }
  }

  /// Schedules `work` as `bring(_:dropped:)` does, but keeps the order of calls from several threads.
  @inline(never)
  func bringInOrder(_ work: @escaping @Sendable () -> Void, dropped: @escaping @Sendable () -> Void) {
    let errand = LoopErrand(work, dropped: dropped)
    bringInOrder { [errand = consume errand] in errand.run() }
  }
}
