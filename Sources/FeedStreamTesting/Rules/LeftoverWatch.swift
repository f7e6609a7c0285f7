import FeedStream

/// Sees to it that an operator leaves no scheduled work behind (rule 9).
///
/// What a script's own sources have scheduled does not count: it has a line in a test or in the kit for its origin.
struct LeftoverWatch {
  /// Whether what was scheduled before the stream was over may stay until it is due: work without a repetition, which a
  /// scheduler cannot take back. Nothing may be scheduled after that.
  let mayLeaveWork: Bool
  /// When the last of what was left over is due.
  private var limit: StreamInstant?
  private var isSettled = false

  init(mayLeaveWork: Bool) { self.mayLeaveWork = mayLeaveWork }

  /// - Returns: what is wrong, once.
  mutating func look(at time: VirtualTimeScheduler, isOver: Bool) -> String? {
    guard isOver, !isSettled else { return nil }
    let left = time.pending.filter { !$0.origin.isScript }
    guard let first = left.first else {
      isSettled = true
      return nil
    }
    if mayLeaveWork, limit == nil { limit = left.map(\.when).max() }
    if let limit, time.now < limit || left.allSatisfy({ $0.when <= limit }) { return nil }
    isSettled = true
    return "work was left over after the stream was over, due at \(first)"
  }
}

extension WorkOrigin {
  fileprivate var isScript: Bool { if case .line = self { true } else { false } }
}
