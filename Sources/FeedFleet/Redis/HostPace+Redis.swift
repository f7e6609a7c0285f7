import FeedPolling

extension HostPace {
  /// The stored form: the milliseconds, which scripts read, and after a space, the other fields.
  var stored: String { "\(Int(rest * 1000)) \(text)" }

  /// - Parameter stored: the stored form; `nil` or empty if there is none. An invalid form counts as none, and the pace
  ///   is learned again.
  init?(stored: String?) {
    guard let stored, let space = stored.firstIndex(of: " ") else { return nil }
    self.init(String(stored[stored.index(after: space)...]))
  }
}
