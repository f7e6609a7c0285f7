import FeedPolling

extension HostPace {
  /// The milliseconds, for scripts, and the remaining fields after a space.
  var stored: String { "\(Int(rest * 1000)) \(text)" }

  /// - Parameter stored: `nil` or empty for none; an invalid one counts as none, and is learned again.
  init?(stored: String?) {
    guard let stored, let space = stored.firstIndex(of: " ") else { return nil }
    self.init(String(stored[stored.index(after: space)...]))
  }
}
