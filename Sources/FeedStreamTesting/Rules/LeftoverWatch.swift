import FeedStream

/// Sees to it that an operator leaves no scheduled work behind (rule 9).
///
/// What the kit's own sources have scheduled does not count.
struct LeftoverWatch {
  private var isSettled = false
  /// What is wrong.
  private(set) var finding: String?

  mutating func look(at time: VirtualTimeScheduler, isOver: Bool) {
    guard isOver, !isSettled else { return }
    let left = time.pending.filter { !$0.origin.isScript }
    // What is due now is as good as done.
    guard let first = left.first(where: { $0.when > time.now }) else {
      isSettled = left.isEmpty
      return
    }
    isSettled = true
    finding = "work was left over after the stream was over, due at \(first); cancel it with the stream"
  }
}

extension WorkOrigin {
  /// Whether it was scheduled by a line of the kit.
  fileprivate var isScript: Bool {
    guard case .line(let site) = self else { return false }
    return "\(site.fileID)".hasPrefix("FeedStreamTesting/")
  }
}
