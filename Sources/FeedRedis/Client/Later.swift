import FeedStream

extension LoopScheduler {
  /// `once(after:)`, by the name that the fleet has for it.
  package func later(_ delay: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    once(after: delay, action)
  }
}
