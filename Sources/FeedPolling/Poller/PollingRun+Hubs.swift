import Foundation

/// Feeds whose hubs announce changes.
extension PollingRun {
  /// The schedule that applies to a feed.
  func schedule(of feed: PolledAddress, _ health: FeedHealth) -> Schedule {
    var schedule = Schedule(every: feed.interval)
    // Without hubs, another process may receive the announcements.
    schedule.isPushed = poller.hubs?.isPushed(feed.address) ?? (health.push?.isValid(at: now) ?? false)
    return schedule
  }

  /// Handles the end of a lease: the feed is polled like any other from now on.
  func leaseLost(_ address: URL) {
    guard isLive, let index = places[address], !members[index].isRemoved, members[index].poll == nil else { return }
    noticeLoss(index)
    guard let due = members[index].health.due else { return }
    queue.hurry(index, at: due.timeIntervalSince1970)
    pump()
  }

  /// Saves that a feed's hub no longer announces its changes, if the feed's state says that it does.
  func noticeLoss(_ index: Int) {
    // Most polls have no hubs, so nothing is copied for them.
    guard let hubs = poller.hubs else { return }
    var (feed, health) = (members[index].polled, members[index].health)
    guard !hubs.isPushed(feed.address),
      health.rule == .pushed || health.push?.isValid(at: now) == true
    else { return }
    health.push = hubs.lease(of: feed.address)
    schedule(of: feed, health).adopt(&health, using: &random)
    members[index].health = health
    carryOut(.leaseLost(health))
  }
}
