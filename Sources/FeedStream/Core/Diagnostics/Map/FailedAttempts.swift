/// Counts, for the map, the failures after which an operator subscribed again.
struct FailedAttempts {
  private var count = 0
  /// The last error, if it arrived while the map was on.
  private var last: String?

  mutating func note(_ error: any Error) {
    count += 1
    if LiveMap.isOn { last = String(describing: error) }
  }

  /// The number of failures and the last error as text; `nil` if there was no failure.
  var text: String? {
    guard count > 0 else { return nil }
    return (count == 1 ? "1 attempt has failed" : "\(count) attempts have failed")
      + (last.map { ", the last with \($0)" } ?? "")
  }
}
