import FeedStream
import Foundation
import ImageFeed

extension PollingRun {
  /// Polls these feeds from now on; feeds that were already in the list keep their state.
  func replaceFeeds(with list: [PolledAddress]) {
    guard isLive else { return }
    // A new list waits until the state of the previous list's feeds has been read.
    guard isReady else {
      nextList = list
      return
    }
    var wanted: [URL: PolledAddress] = [:]
    for feed in list where wanted[feed.address] == nil { wanted[feed.address] = feed }
    for index in members.indices where !members[index].isRemoved {
      if let feed = wanted.removeValue(forKey: members[index].polled.address) {
        members[index].polled = feed
      } else {
        members[index].isRemoved = true
        queue.remove(index)
        poller.hubs?.remove(members[index].polled.address)
        removed += 1
        if members[index].health.failures > 0 { failing -= 1 }
      }
    }
    let added = list.filter { wanted.removeValue(forKey: $0.address) != nil }
    if added.isEmpty { return pump() }
    isReady = false
    readHealth(of: added)
  }

  func listsEnded() {
    lists = nil
    pump()
  }
}
