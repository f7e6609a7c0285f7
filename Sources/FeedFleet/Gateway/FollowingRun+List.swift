import FeedPolling
import FeedStream
import Foundation
import ImageFeed

/// Checks, at intervals, that the log was not replaced, and whether the list of feeds has changed.
extension FollowingRun {
  func planLook() {
    guard deliver != nil else { return }
    looking = nil
    lookTimer?.cancel()
    lookTimer = follower.scheduler.once(after: .init(follower.look)) { [weak self] in self?.look() }
  }

  /// Checks that the log was not replaced. A reader that waits for the next entry would not notice.
  private func look() {
    guard deliver != nil, let asked = cursor else { return }
    looking = engine.holds(asked).zip(engine.edition()).sink { [weak self] in
      self?.ended($0, isList: true)
    } receiveValue: { [weak self] holds, edition in
      guard let self else { return }
      // The log may have been trimmed just before the position advanced; by the next check, the position has advanced.
      let isLost = !holds && cursor == asked
      if isLost, asked == missing {
        stop()
        return snapshot(isReset: true)
      }
      missing = isLost ? asked : nil
      guard edition == self.edition else { return readList(edition) }
      recovered(isList: true)
      planLook()
    }
  }

  private func readList(_ edition: String) {
    let engine = engine
    looking = addresses.flatMap { all, isCut in
      engine.feeds(all, withImages: false).map { (Array(zip(all, $0)), isCut) }
    }
    .flatMap { [weak self] feeds, isCut in
      // Updates to feeds that were known before are in the log.
      let versions = self?.versions ?? [:]
      let news = feeds.filter { address, feed in feed?.version != nil && (versions[address] ?? nil) == nil }.map(\.0)
      return engine.feeds(news, withImages: true).map { (feeds, isCut, $0.compactMap { $0 }) }
    }
    .sink { [weak self] in
      self?.ended($0, isList: true)
    } receiveValue: { [weak self] feeds, isCut, added in
      self?.edition = edition
      self?.take(feeds, added, isCut: isCut)
    }
  }

  private func take(_ feeds: [(URL, FleetFeed?)], _ added: [FleetFeed], isCut: Bool) {
    recovered(isList: true)
    planLook()
    let before = versions
    versions = [:]
    for (address, feed) in feeds { versions[address] = .some(feed == nil ? nil : before[address] ?? nil) }
    let added = added.filter { (versions[$0.address] ?? nil) == nil }
    for feed in added { versions[feed.address] = .some(feed.version) }
    let gone = before.filter { address, version in version != nil && (versions[address] ?? nil) == nil }.map(\.key)
    guard !added.isEmpty || !gone.isEmpty || Set(before.keys) != Set(versions.keys) else { return }
    send(.list(FleetList(addresses: feeds.map(\.0), added: added, forgotten: Set(gone), isCut: isCut)))
  }
}
