/// The outcome of a poll.
public enum PollOutcome: String, Hashable, Sendable, CaseIterable {
  /// The feed differs from the saved one.
  case changed
  /// The feed is the same as the saved one.
  case unchanged
  /// No feed was loaded.
  case failed
  /// The feed was not requested, because the request would be unconditional and the last such request was less than a
  /// day ago.
  case postponed
}
