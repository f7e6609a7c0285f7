import FeedStream
import Foundation
import ImageFeed

/// The saved feeds, which are shown first, and the results of polls.
extension PollingRun {
  /// Shows the saved feeds, one after another.
  func showNext() {
    while let index = toShow.first, members[index].isRemoved { toShow.removeFirst() }
    while let index = delayed.first, !needsCopy(index) { delayed.removeFirst() }
    guard !isShowing, results.isWanted(besides: queue.running), let index = toShow.popFirst() ?? delayed.popFirst()
    else { return }
    isShowing = true
    let (member, cache) = (members[index], poller.cache)
    let reason = pause(of: member) ?? RemoteFeedError.notDue(until: member.health.due, member.health.reason)
    let shown = Fail<FeedImages, RemoteFeedError>(error: reason)
      .fallback(to: cache.feed(at: member.polled.address).load(maxAge: member.polled.options.maxAge), now: cache.now)
      .asResult()
      .sink { [weak self] result in
        self?.isShowing = false
        self?.members[index].validators = nil
        self?.show(result, of: index)
        self?.pump()
      }
    jobs.append(shown)
    if jobs.count > 16 { jobs.removeFirst(8) }
  }

  /// True if a delayed feed's host is still paused, and the feed hasn't been shown. After the pause, it is requested.
  private func needsCopy(_ index: Int) -> Bool {
    let member = members[index]
    return !member.isRemoved && !results.hasResult(of: index) && (pauses[member.host].map { $0.until > now } ?? false)
  }

  /// Notes a host's pause. Until its end, the host's due feeds can't be requested, so their saved copies are shown. A
  /// short pause isn't noted.
  ///
  /// - Parameter waiting: the host's due feeds.
  /// - Returns: the pause, if there is one that wasn't known.
  func newPause(of host: HostHealth, delaying waiting: [Int]) -> HostPause? {
    guard !waiting.isEmpty, let end = host.pausedUntil, end > now + Self.grace else { return nil }
    delayed += waiting.filter { !results.hasResult(of: $0) }
    let pause = HostPause(until: end, because: host.reason)
    return pauses.updateValue(pause, forKey: host.name)?.until == end ? nil : pause
  }

  /// Reports a pause, after the state has been updated, because the receiver may cancel this run.
  func report(_ pause: HostPause?, of host: String) {
    if let pause, isLive { poller.options.onPause(host, pause) }
  }

  /// The reason why a due feed isn't requested, if it is a pause of its host.
  private func pause(of member: Member) -> RemoteFeedError? {
    guard let pause = pauses[member.host], pause.until > max(now, member.health.due ?? .distantFuture) else {
      return nil
    }
    return .notDue(until: pause.until, "\(member.host) is paused: \(pause.reason)")
  }

  /// Shows a feed's result, unless the feed is no longer in the list.
  func show(_ result: FeedResult, of index: Int) {
    guard !members[index].isRemoved else { return }
    results.add(FeedReport(address: members[index].polled.address, result: result), of: index)
  }
}
