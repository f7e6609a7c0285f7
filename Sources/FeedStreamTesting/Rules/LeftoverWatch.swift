import FeedStream

/// Sees to it that an operator leaves no scheduled work behind (rule 9).
///
/// What the kit's own sources have scheduled does not count.
struct LeftoverWatch {
  /// Whether what was scheduled before the stream was over may stay until it is due: work without a repetition, which a
  /// scheduler cannot take back. Nothing may be scheduled after that.
  let mayLeaveWork: Bool
  /// When the last of what was left over is due.
  private var limit: StreamInstant?
  private var isSettled = false
  /// What is wrong.
  private(set) var finding: String?

  init(mayLeaveWork: Bool) { self.mayLeaveWork = mayLeaveWork }

  mutating func look(at time: VirtualTimeScheduler, isOver: Bool) {
    guard isOver, !isSettled else { return }
    let left = time.pending.filter { !$0.origin.isScript }
    // What is due now is as good as done.
    guard let first = left.first(where: { $0.when > time.now }) else {
      isSettled = left.isEmpty
      return
    }
    if mayLeaveWork, limit == nil { limit = left.map(\.when).max() }
    if let limit, time.now < limit || left.allSatisfy({ $0.when <= limit }) { return }
    isSettled = true
    finding =
      "work was left over after the stream was over, due at \(first); cancel it, or declare .leavesWork if no scheduler can"
  }
}

extension WorkOrigin {
  /// Whether it was scheduled by a line of the kit.
  fileprivate var isScript: Bool {
    guard case .line(let site) = self else { return false }
    return "\(site.fileID)".hasPrefix("FeedStreamTesting/")
  }
}
