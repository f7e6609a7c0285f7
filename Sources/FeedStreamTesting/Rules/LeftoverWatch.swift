import FeedStream

/// Checks that an operator leaves no scheduled work behind (rule 9).
///
/// Work that the kit's own sources have scheduled does not count.
struct LeftoverWatch {
  /// True when work scheduled before the stream was over may stay until it is due: single work that a scheduler cannot
  /// cancel. Nothing may be scheduled after that.
  let mayLeaveWork: Bool
  /// The time at which the last of the work left over is due.
  private var limit: StreamInstant?
  private var isSettled = false
  /// The violation found, if any.
  private(set) var finding: String?

  init(mayLeaveWork: Bool) { self.mayLeaveWork = mayLeaveWork }

  mutating func look(at time: VirtualTimeScheduler, isOver: Bool) {
    guard isOver, !isSettled else { return }
    let left = time.pending.filter { !$0.origin.isScript }
    // Work that is due now does not count.
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
  /// True when the kit itself scheduled it.
  fileprivate var isScript: Bool {
    guard case .line(let site) = self else { return false }
    return "\(site.fileID)".hasPrefix("FeedStreamTesting/")
  }
}
