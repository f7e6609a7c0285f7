public import Foundation
public import ImageFeed

extension PollClaim {
  /// A store's decision and the notes to save, given the saved state; the same in every store.
  ///
  /// - Parameters:
  ///   - savedFeed: the feed's state in the store.
  ///   - savedHost: the host's state in the store.
  ///   - validators: the validators of the saved feed.
  /// - Returns: the verdict, and the notes to save with it if the claim is granted.
  public func decide(
    _ savedFeed: FeedHealth?, _ savedHost: HostHealth?, _ validators: FeedValidators
  ) -> (verdict: PollVerdict, feed: FeedHealth, host: HostHealth) {
    var host = savedHost ?? HostHealth(name: self.host)
    host.correctClock(now: now)
    var feed = savedFeed ?? self.feed
    // Another process's request, of which this one knew, has ended.
    let hasEnded = self.feed.begun != nil && savedFeed.map { $0.begun == nil } ?? false
    // The response to the ended process's request will never arrive.
    if host.forgetEndedHolder() { feed.begun = nil }
    // Another process has requested the feed since this one last checked. A time from a wrong clock doesn't count.
    if let asked = feed.asked, asked != self.feed.asked || hasEnded,
      asked <= now + FeedCachePolicy.clockTolerance.seconds,
      asked > self.feed.asked ?? .distantPast || feed.due.map({ $0 > now }) ?? false
    {
      return (.notDue(feed), feed, host)
    }
    guard host.opens <= now else { return (.hostIsClosed(host), feed, host) }
    // A saved feed always has a digest. Without one, the feed is lost, and so are its validators.
    if !validators.isEmpty || validators.digest != nil { feed.hadValidators = !validators.isEmpty }
    let before = feed.askedForAll
    var since = validators.trusted(at: now)
    if since.isEmpty {
      // An unconditional request is sent at most once a day, whatever its result.
      let opens = feed.opensForAll.flatMap { $0 > now && feed.askedForAll! <= now ? $0 : nil }
      if let opens, validators.isEmpty {
        (feed.due, feed.notBefore, feed.interval) = (opens, opens, self.feed.interval)
        (feed.rule, feed.reason) = (.wholeDaily, Schedule.wholeReason)
        return (.notDue(feed), feed, host)
      }
      if opens != nil { since = validators } else { feed.askedForAll = now }
    }
    (feed.asked, feed.begun, feed.due) = (now, now, dueIfLost)
    feed.interval = self.feed.interval
    feed.reason = "a request was interrupted"
    host.begin(now: now, lease: lease, gap: gap)
    var lease = PollLease(
      feed: feed, host: self.host, saved: validators, since: since, askedForAllBefore: before)
    (lease.pace, lease.reserved) = (host.pace, host.next)
    return (.granted(lease), feed, host)
  }
}

extension HostHealth {
  /// Merges the record of one request into the saved state; if there are two pauses, the one that ends later is kept.
  ///
  /// - Parameter reserved: the end of the request's reservation. If the reservation is over, because the host was freed
  ///   or reserved again, the results of later requests are kept. `nil` if there is none.
  public func merged(into saved: HostHealth?, releasing reserved: Date? = nil) -> HostHealth {
    var merged = self
    if let saved, let reserved, saved.next != reserved || saved.holder != ProcessMark.own {
      if saved.holder != nil {
        (merged.next, merged.holder, merged.opensIfLost) = (saved.next, saved.holder, saved.opensIfLost)
      } else {
        merged.next = [saved.next, merged.next].compactMap { $0 }.max()
        (merged.holder, merged.opensIfLost) = (nil, nil)
      }
      merged.pace = saved.pace
    }
    if let end = saved?.pausedUntil, end > pausedUntil ?? .distantPast {
      merged.pausedUntil = end
      merged.reason = saved?.reason ?? ""
    }
    return merged
  }
}
