extension Recorder {
  /// Makes `withVirtualTime` cancel this recorder at the end of the test, instead of failing the test, if its stream
  /// isn't over by then.
  ///
  ///     let recorder = ticks.record(on: time).cancelledAtEnd()
  ///
  /// Unread events, and work that the cancellation leaves behind, still fail the test. Outside `withVirtualTime`, this
  /// has no effect.
  public func cancelledAtEnd() -> Self {
    isCancelledAtEnd = true
    if time.audit.isAwaited { auditEntry?.keep() }
    return self
  }

  /// Fails the test, unless the failure follows from an earlier one.
  func fail(_ message: String, _ site: CallSite) {
    isExcused = true
    time.fail(message, site)
  }
}

extension Recorder: Auditable {
  var leftover: String? {
    let live = isLive ? "The subscription made here is still live: complete the stream, or cancel it." : nil
    let advice = isLive && time.audit.isIdle ? "No work is left in virtual time. \(outsideAdvice)" : nil
    let parts = [unreadLeftover, live, advice, missingSubscription].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }

  /// A message if a publisher has delivered no subscription. If the test has cancelled, there is one only if the test
  /// relied on a subscription that could no longer arrive.
  var missingSubscription: String? {
    guard isAwaiting, subscribedAt == nil, !hasEnded, cancelledAt == nil || isUnanswered && isChecked else {
      return nil
    }
    return "The publisher delivered no subscription."
  }

  /// The unread events, as a message.
  var unreadLeftover: String? {
    let unread = unreadEvents
    guard !unread.isEmpty else { return nil }
    let list = unread.prefix(5).map { "\($0)" }.joined(separator: ", ")
    let what = unread.count == 1 ? "an event" : "\(unread.count) events"
    return "The test did not expect \(what): \(list)\(unread.count > 5 ? ", …" : "")."
  }

  func settle() {
    guard isCancelledAtEnd else { return }
    isChecked = true
    cancel()
  }

  func discard() { cancel() }
}
