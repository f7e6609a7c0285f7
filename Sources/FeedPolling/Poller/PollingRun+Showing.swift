import FeedStream
import Foundation
import ImageFeed

/// The saved feeds, which are shown first, and the results of polls.
extension PollingRun {
  /// Shows the saved feeds, one after another.
  func showNext() {
    while let index = toShow.first, members[index].isRemoved { toShow.removeFirst() }
    guard !isShowing, results.isWanted(besides: queue.running), let index = toShow.popFirst() else { return }
    isShowing = true
    let (member, cache) = (members[index], poller.cache)
    let reason = RemoteFeedError.notDue(until: member.health.due, member.health.reason)
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

  /// Shows a feed's result, unless the feed is no longer in the list.
  func show(_ result: FeedResult, of index: Int) {
    guard !members[index].isRemoved else { return }
    results.add(FeedReport(address: members[index].polled.address, result: result), of: index)
  }
}
