import FeedStream
import Foundation
import ImageFeed

/// One poll: claim, poll, complete.
extension PollingRun {
  func poll(_ index: Int) {
    let (feed, now) = (members[index].polled, now)
    var wish = members[index].health
    let wait = feed.interval ?? .seconds(wish.adaptiveInterval(at: now))
    wish.interval = feed.interval?.seconds
    let claim = PollClaim(
      feed: wish, host: members[index].host, now: now, lease: VisitedHosts.duration(feed.options.timeout),
      gap: poller.gap(for: feed), dueIfLost: now + wait.seconds)
    (members[index].begun, members[index].reserved, members[index].left) = (now, claim.reserved, nil)
    batcher.isCrowded = queue.running > Self.crowd
    members[index].poll = batcher.claim(claim) { [weak self] in self?.claimed(index, claim, $0) }
  }

  private func claimed(_ index: Int, _ claim: PollClaim, _ verdict: Result<PollVerdict, FeedStoreError>) {
    guard isLive else { return }
    switch verdict {
    case .success(.granted(let lease)): begin(lease, index)
    // It is due, or a hub has announced a change.
    case .success(.hostIsClosed(let host)):
      let pause = newPause(of: host, delaying: [index] + queue.readyFeeds(of: host.name))
      ended(index, now, hostOpens: host.reopens(at: now))
      report(pause, of: host.name)
    case .success(.notDue(let health)): notDue(index, health)
    case .failure(let error):
      // Without a store, the poll uses only this process's memory.
      poller.options.report(error)
      var lease = PollLease(feed: claim.feed, host: claim.host, saved: FeedValidators(), since: nil)
      lease.askedForAllBefore = lease.feed.askedForAll
      lease.feed.asked = claim.now
      begin(lease, index)
    }
  }

  /// Handles a feed that isn't due, usually because another process has requested it.
  private func notDue(_ index: Int, _ health: FeedHealth) {
    let feed = members[index].polled
    if health.isBeingAsked(at: now, within: VisitedHosts.duration(feed.options.timeout)),
      health.due.map({ $0 > now }) ?? false
    {
      // The other process's result will be shown. This run's own state isn't changed, so that the run recognizes that
      // result as another process's.
      return ended(index, now + Self.glance, hostOpens: .distantPast)
    }
    var health = health
    countFailure(of: index, now: health)
    schedule(of: feed, health).adopt(&health, using: &random)
    members[index].health = health
    toShow.append(index)
    moveIfNeeded(index)
    // The other process's request was sent before the hub announced the change. This is tried once: there may be
    // another reason why the feed isn't due.
    if let announced = members[index].announced.take(), health.asked.map({ $0 < announced }) ?? true {
      members[index].isAnnounced = true
    }
    ended(index, health.due, hostOpens: .distantPast)
  }

  private func begin(_ lease: PollLease, _ index: Int) {
    let (polled, cache) = (members[index].polled, poller.cache)
    members[index].announced = nil
    var lease = lease
    if let hubs = poller.hubs { lease.feed.push = hubs.lease(of: polled.address) }
    let pace = lease.pace
    let client = GuardedClient(
      polled.client ?? poller.client, on: poller.scheduler, host: lease.host, home: lease.feed.requestAddress
    ) { [weak self] host, _ in
      self?.visitedHosts(of: index).visit(host) ?? Empty().eraseToAnyPublisher()
    } leave: { [weak self] in
      self?.leaveHosts(of: index, $0, pace) ?? true
    }
    members[index].client = client
    var terms = FeedPoll.Terms(
      polled, client: client, on: poller.scheduler, gap: poller.gap(for: polled),
      now: cache.now, seed: random.next(), shown: members[index].validators)
    terms.isPushed = poller.hubs?.isPushed(polled.address) ?? false
    let poll = FeedPoll(lease, terms, saved: SavedFeed(cache.feed(at: polled.address), maxAge: polled.options.maxAge)) {
      [weak self] outcome in self?.complete(index, outcome)
    }
    members[index].poll = poll
    poll.begin()
  }

  private func complete(_ index: Int, _ outcome: FeedPoll.Outcome) {
    guard isLive else { return }
    batcher.complete(outcome.completion) { [weak self] answer in
      guard let self, isLive else { return }
      switch answer {
      case .success(let record?): completed(index, outcome, record)
      // Another version has been saved in the meantime, so the saved feed can't be renewed.
      case .success(nil): (members[index].poll as? FeedPoll)?.read()
      case .failure(let error) where outcome.completion.change != nil:
        members[index].polled.options.report(error)
        // The feed can't be saved, but the poll is still recorded.
        var outcome = outcome
        outcome.completion.change = nil
        outcome.completion.wasRead = true
        complete(index, outcome)
      case .failure(let error):
        poller.options.report(error)
        let record = outcome.completion.record(nil)
        if let reserved = outcome.completion.reserved {
          visits.free(HostRelease(record.host, reserved: reserved, ended: now))
        }
        completed(index, outcome, record)
      }
    }
  }

  private func completed(_ index: Int, _ outcome: FeedPoll.Outcome, _ record: PollRecord) {
    poller.options.onOutcome(members[index].polled.address, record.outcome)
    guard isLive else { return }
    poller.options.onDecision(members[index].polled.address, record.decision)
    guard isLive else { return }
    members[index].poll?.cancel()
    countFailure(of: index, now: record.feed)
    members[index].health = record.feed
    if !members[index].isRemoved { poller.hubs?.polled(record.feed) }
    noticeLoss(index)
    members[index].validators = outcome.shown
    if let result = outcome.result { show(result, of: index) }
    endVisits(of: index)
    let pause = newPause(of: record.host, delaying: queue.readyFeeds(of: record.host.name))
    moveIfNeeded(index)
    ended(index, members[index].health.due, hostOpens: record.host.opens)
    report(pause, of: record.host.name)
  }

  /// Handles a hub's announcement of a change. The feed is polled now, but no earlier than a minute after its last poll
  /// and, after a failure, not before it is due.
  ///
  /// - Parameter isRepeated: true if this announcement has been handled before.
  func announced(_ address: URL, isRepeated: Bool = false) {
    guard isLive else { return }
    guard isReady else { return unheard.append(address) }
    guard let index = places[address], !members[index].isRemoved else { return }
    let health = members[index].health
    guard !health.isGone else { return }
    if !isRepeated { members[index].announced = now }
    guard members[index].poll == nil else {
      members[index].isAnnounced = true
      return
    }
    var time = max(now, (health.asked ?? .distantPast) + FeedPoller.announcedGap.seconds)
    if health.failures > 0 { time = max(time, health.notBefore ?? time) }
    queue.hurry(index, at: time.timeIntervalSince1970)
    pump()
  }

  private func ended(_ index: Int, _ due: Date?, hostOpens opens: Date) {
    members[index].poll = nil
    defer { if members[index].isAnnounced { announceAgain(index) } }
    queue.ended(
      index, due: members[index].isRemoved ? nil : due.map { $0.timeIntervalSince1970 },
      hostOpens: opens == .distantPast ? -.infinity : opens.timeIntervalSince1970)
    batcher.isCrowded = queue.running > Self.crowd
    pump()
  }

  private func announceAgain(_ index: Int) {
    members[index].isAnnounced = false
    announced(members[index].polled.address, isRepeated: true)
  }

  private func countFailure(of index: Int, now health: FeedHealth) {
    guard !members[index].isRemoved else { return }
    failing += (health.failures > 0 ? 1 : 0) - (members[index].health.failures > 0 ? 1 : 0)
  }

  /// The hosts that a poll reserves besides its own, which most polls don't need.
  private func visitedHosts(of index: Int) -> VisitedHosts {
    if let hosts = members[index].visited { return hosts }
    let polled = members[index].polled
    let hosts = VisitedHosts(visits, gap: poller.gap(for: polled), timeout: polled.options.timeout)
    members[index].visited = hosts
    return hosts
  }

  func endVisits(of index: Int) {
    guard let client = members[index].client.take() else { return }
    members[index].visited.take()?.end(client.end())
  }

  /// Polls a feed whose URL was replaced by a permanent redirect's target in the queue of its new host.
  private func moveIfNeeded(_ index: Int) {
    let health = members[index].health
    guard health.move != nil || members[index].hasMoved else { return }
    let host = health.requestAddress.pollingHost
    members[index].hasMoved = health.move != nil
    guard host != members[index].host else { return }
    members[index].host = host
    queue.move(index, to: host)
  }

  /// Frees the hosts of a poll that waits for another host.
  ///
  /// - Returns: false if the poll keeps its own host, because that host rests for longer than usual after each request.
  ///   If another host redirected back to it, the poll would have to wait for the end of that rest.
  private func leaveHosts(of index: Int, _ visited: [GuardedClient.Visited], _ pace: HostPace?) -> Bool {
    members[index].visited?.end(visited)
    let gap = poller.gap(for: members[index].polled).seconds
    guard pace?.remembered(at: now)?.rest ?? 0 <= gap else { return false }
    members[index].left = now
    freeHost(of: index)
    return true
  }

  /// Frees the host of a poll that waits for another host, or was cancelled before it completed.
  ///
  /// - Parameter isAbandoned: true if the poll was cancelled.
  func freeHost(of index: Int, isAbandoned: Bool = false) {
    var host = HostHealth(name: members[index].host)
    // A host that was freed already isn't closed again.
    let ended = members[index].left ?? now
    host.next = ended + poller.gap(for: members[index].polled).seconds
    // The poll has no result yet, and a process that runs after this one has ended need not wait for it.
    (host.holder, host.opensIfLost) = (ProcessMark.own, host.next)
    var release = HostRelease(host, reserved: members[index].reserved, ended: ended)
    if isAbandoned {
      release.abandoned = .init(feed: members[index].polled.address, begun: members[index].begun)
    }
    visits.free(release)
  }

  /// Carries out an operation whose result is needed only if it is a failure.
  func carryOut(_ work: PollWork) {
    let store = poller.store
    poller.cache.worker.perform {
      store.carryOut([work])
    } completion: { [poller] (result: Result<[Result<PollAnswer, FeedStoreError>], Never>) in
      for answer in result.get() { _ = poller.unwrap(answer) }
    }
  }
}
