import FeedStream
import Foundation
import ImageFeed

/// One subscription to a ``FeedPoller``: carries out the decisions of ``PollQueue``.
final class PollingRun: Subscription {
  /// The state of one of the feeds.
  struct Member {
    var polled: PolledAddress
    var host: String
    /// True if the feed is no longer in the list.
    var isRemoved = false
    var health: FeedHealth
    /// The validators of the saved feed, if that feed was delivered last and is considered the server's.
    var validators: FeedValidators?
    /// The running poll, its client, and the hosts that it has reserved besides its own.
    var poll: (any Cancellable)?
    var client: GuardedClient?
    var visited: VisitedHosts?
    /// The time of the running poll's claim, and the end of the reservation that it has claimed.
    var begun = Date.distantPast
    var reserved = Date.distantPast
    /// The time at which the running poll freed its own host, to wait for another one; `nil` if it didn't.
    var left: Date?
    /// True if the URL was replaced by a redirect's target when the feed was polled last.
    var hasMoved = false
    /// True if the feed's hub has announced a change since the running poll began.
    var isAnnounced = false
    /// The time when the hub announced a change that no poll of this run has loaded.
    var announced: Date?
  }

  /// The delay, in seconds, beyond which a feed counts as missed. Missed feeds are spread out, at most one per second
  /// on average.
  static let grace = 60.0
  static let longestSpread = 600.0
  /// The interval, in seconds, at which this run checks whether another process has received the response to its
  /// request.
  static let glance = 0.25
  /// The number of running polls above which operations on the store are batched for a moment.
  static let crowd = 8

  let poller: FeedPoller
  // Here and below: used several times per poll, on one thread, and no access lasts across a call.
  @exclusivity(unchecked) var members: [Member] = []
  @exclusivity(unchecked) var queue: PollQueue
  let batcher: PollBatcher
  let visits: HostVisits
  var random: SplitMix64
  let results: PolledResults
  private var finish: (() -> Void)?
  /// The feeds whose saved copy is shown first.
  @exclusivity(unchecked) var toShow: ArraySlice<Int> = []
  /// The feeds whose saved copy is shown because their host is paused, unless they have been shown by then.
  @exclusivity(unchecked) var delayed: ArraySlice<Int> = []
  /// The hosts' pauses that have delayed a feed.
  var pauses: [String: HostPause] = [:]
  var isShowing = false
  private var hasBegun = false
  var isReady = false
  private let clock: PollingClock
  var jobs: [any Cancellable] = []
  /// The number of feeds whose last request failed.
  var failing = 0
  private var progress = PollingProgress()
  var lists: AnyCancellable?
  private var announcements: AnyCancellable?
  /// The URLs that hubs have announced while the state of new feeds is read.
  var unheard: [URL] = []
  private var losses: AnyCancellable?
  /// The members, by the URLs that hubs may announce.
  var places: [URL: Int] = [:]
  /// The number of members that are no longer in the list.
  var removed = 0
  /// The latest list, while the state of new feeds is read.
  var nextList: [PolledAddress]?

  init(
    _ poller: FeedPoller, receive: @escaping (FeedReport) -> Subscribers.Demand, finish: @escaping () -> Void
  ) {
    self.poller = poller
    results = PolledResults(receive)
    clock = PollingClock(poller.scheduler, wall: poller.cache.now)
    self.finish = finish
    visits = HostVisits(
      store: poller.store, cache: poller.cache, on: poller.scheduler, report: poller.options.report)
    batcher = PollBatcher(poller.store, poller.cache.worker, on: poller.scheduler)
    queue = PollQueue(limit: poller.options.maxRunning)
    random = SplitMix64(seed: poller.options.seed)
  }

  var now: Date { poller.cache.now() }
  var isLive: Bool { results.isWanted }

  // MARK: Subscription

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "FeedPoller: request(.none) requests nothing; request at least one value")
    guard isLive else { return }
    results.request(demand)
    if hasBegun { return pump() }
    hasBegun = true
    begin()
  }

  func cancel() {
    guard isLive else { return }
    results.end()
    finish = nil
    (lists, announcements, losses) = (nil, nil, nil)
    clock.cancel()
    for job in jobs { job.cancel() }
    let polled = members.indices.filter { members[$0].poll != nil }
    for index in polled { members[index].poll.take()?.cancel() }
    // Saves a pause that a server has just requested.
    batcher.flush()
    for index in polled {
      endVisits(of: index)
      freeHost(of: index, isAbandoned: true)
    }
    visits.cancel()
  }

  // MARK: Beginning

  private func begin() {
    readHealth(of: poller.feeds)
    announcements = poller.hubs?.announcements.sink { [weak self] in self?.announced($0) }
    losses = poller.hubs?.losses.sink { [weak self] in self?.leaseLost($0) }
    lists = poller.lists?.sink { [weak self] _ in
      self?.listsEnded()
    } receiveValue: { [weak self] in
      self?.replaceFeeds(with: $0)
    }
  }

  func readHealth(of feeds: [PolledAddress]) {
    let (store, addresses) = (poller.store, feeds.map(\.address))
    let work = poller.cache.worker.perform(
      { () throws(FeedStoreError) in try store.health(of: addresses) },
      completion: { [weak self] in self?.began(feeds, with: $0) })
    jobs.append(work)
  }

  private func began(_ feeds: [PolledAddress], with result: Result<[FeedHealth?], FeedStoreError>) {
    guard isLive else { return }
    let known = poller.unwrap(result) ?? []
    let now = now
    let first = members.count
    for (index, feed) in feeds.enumerated() {
      var health = (index < known.count ? known[index] : nil) ?? FeedHealth(address: feed.address)
      health.correctClock(now: now)
      // If another process is requesting the feed, this run doesn't have the result yet, and checks for it.
      let isAnothers = health.isBeingAsked(at: now, within: VisitedHosts.duration(feed.options.timeout))
      let wasAsked = health.asked != nil && !(isAnothers && health.succeeded == nil)
      if isAnothers { health.asked = nil }
      poller.hubs?.resume(health)
      if isAnothers { health.due = now } else { schedule(of: feed, health).adopt(&health, using: &random) }
      let due = health.due
      let host = health.requestAddress.pollingHost
      if poller.hubs != nil { places[feed.address] = members.count }
      members.append(Member(polled: feed, host: host, health: health, hasMoved: health.move != nil))
      if health.failures > 0 { failing += 1 }
      queue.add(host: host, due: due.map { $0.timeIntervalSince1970 })
      // Feeds that are due are requested. In the meantime, saved copies of the others are shown.
      if wasAsked, isAnothers || due.map({ $0 > now }) ?? true {
        toShow.append(first + index)
      } else if let pause = pauses[host], pause.until > now {
        delayed.append(first + index)
      }
    }
    isReady = true
    // Feeds added later don't change when earlier ones are due.
    spreadOverdue(feeds: first)
    if let next = nextList.take() { replaceFeeds(with: next) }
    let missed = unheard
    unheard = []
    for address in missed { announced(address) }
    pump()
  }

  // MARK: Work

  /// Does all the work that is possible now, and sets the timer for the rest.
  func pump() {
    guard isLive, isReady else { return }
    defer { reportProgress() }
    results.deliver()
    guard isLive else { return }
    noticeSleep()
    showNext()
    while isLive, results.isWanted(besides: queue.running + (isShowing ? 1 : 0)) {
      switch queue.next(at: now.timeIntervalSince1970) {
      case .start(let index): poll(index)
      case .wait(let time):
        if let time { clock.wake(at: time) { [weak self] in self?.pump() } } else { finishIfOver() }
        return
      }
    }
  }

  private func reportProgress() {
    guard isLive else { return }
    var present = PollingProgress()
    (present.feeds, present.due) = (members.count - removed, queue.readyCount)
    (present.running, present.failing) = (queue.running, failing)
    present.next = queue.nextTime().map { Date(timeIntervalSince1970: $0) }
    guard present != progress else { return }
    progress = present
    poller.options.onProgress(present)
  }

  /// Adjusts the queue if the machine has slept or the clock was set.
  private func noticeSleep() {
    let jump = clock.jump()
    if jump > Self.grace { spreadOverdue() }
    // The clock was set back: feeds due in an hour stay due in an hour.
    if jump < -1 { queue.shift(by: jump) }
  }

  /// - Parameter first: the index of the first feed to spread.
  private func spreadOverdue(feeds first: Int = 0) {
    let now = now.timeIntervalSince1970
    // A feed that was never requested is not late.
    queue.spreadOverdue(from: 0, feeds: first, at: now, grace: Self.grace) { count in
      now + (count < 2 ? 0 : Double.random(in: 0..<min(Double(count - 1), Self.longestSpread), using: &random))
    }
  }

  private func finishIfOver() {
    guard queue.running == 0, toShow.isEmpty, !isShowing, results.isEmpty, lists == nil else { return }
    let finish = self.finish
    results.end()
    self.finish = nil
    clock.cancel()
    visits.cancel()
    finish?()
  }
}
