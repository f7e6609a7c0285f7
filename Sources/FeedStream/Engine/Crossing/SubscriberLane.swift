/// The lane in which a subscriber at the end of a chain lives. Only work in the lane may touch the subscriber and the
/// chain above it.
struct SubscriberLane {
  let lane: SerialLane
  /// True if the lane serves only the subscriber's chain. False for a chain that was made within a delivery on a queue.
  private let isOwn: Bool

  /// The lane of a subscription that is being delivered; `nil` if that doesn't happen on a queue.
  static var current: Self? {
    if let lane = SerialLane.ofSubscriptionHandedDown { return Self(lane: lane, isOwn: true) }
    guard let lane = SerialLane.current, lane.isOnQueue else { return nil }
    return Self(lane: lane, isOwn: false)
  }

  /// Schedules `cancel` to run in the lane, unless the calling code runs there. If the lane serves only the
  /// subscriber's chain, work that waits there is dropped.
  ///
  /// - Returns: false if nothing has happened, because the calling code runs in the lane.
  func cancels(_ cancel: @escaping () -> Void) -> Bool {
    guard !lane.isHere else { return false }
    isOwn ? lane.revoke(cancel) : lane.end(cancel)
    return true
  }
}
