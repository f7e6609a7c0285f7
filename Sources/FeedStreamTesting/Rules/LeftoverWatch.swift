import FeedStream

/// Checks that an operator leaves no scheduled work behind (rule 9).
///
/// Work that the conformance kit's own sources have scheduled does not count.
struct LeftoverWatch {
  private var isSettled = false
  /// The violation found, if any.
  private(set) var finding: String?

  mutating func look(at time: VirtualTimeScheduler, isOver: Bool) {
    guard isOver, !isSettled else { return }
    let left = time.pending.filter { !$0.origin.isScript }
    // Work that is due now does not count.
    guard let first = left.first(where: { $0.when > time.now }) else {
      isSettled = left.isEmpty
      return
    }
    isSettled = true
    finding = "scheduled work remained after the stream was over, due at \(first); cancel it with the stream"
  }
}

extension WorkOrigin {
  /// True if the conformance kit itself scheduled the work.
  fileprivate var isScript: Bool {
    guard case .line(let site) = self else { return false }
    return "\(site.fileID)".hasPrefix("FeedStreamTesting/")
  }
}
