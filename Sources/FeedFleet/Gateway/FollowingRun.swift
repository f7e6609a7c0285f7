import FeedPolling
import FeedStream
import Foundation
import ImageFeed

/// One subscription to a ``FleetFollower``.
final class FollowingRun: Subscription {
  let follower: FleetFollower
  var engine: any FleetFollower.Engine { follower.engine }
  private(set) var deliver: ((FleetFollower.Event) -> Subscribers.Demand)?
  private var demand = Subscribers.Demand.none
  private var waiting: [FleetFollower.Event] = []
  private var isDelivering = false
  private var hasBegun = false
  private var work: AnyCancellable?
  private var log: (any Subscription)?
  private var fetching: AnyCancellable?
  private var isFetching = false
  private var isLogAsked = false
  private var timer: (any Cancellable)?
  private var failures = 0
  /// The failure that was delivered last; `nil` while the engine works. `isList` is true if the engine refused to read
  /// the list, so that only reading it shows whether the engine works again.
  private var away: (error: FleetError, isList: Bool)?
  /// The position up to which everything was delivered.
  private(set) var cursor: UpdateCursor?
  var versions: [URL: FeedVersion?] = [:]
  /// Counts connections to the log, so that late events from an old connection are ignored.
  private var round = 0
  private var random: SplitMix64
  /// The list that was delivered last.
  var edition = ""
  var looking: AnyCancellable?
  var lookTimer: (any Cancellable)?
  /// A position that the log did not have when it was last checked.
  var missing: UpdateCursor?

  init(_ follower: FleetFollower, _ deliver: @escaping (FleetFollower.Event) -> Subscribers.Demand) {
    self.follower = follower
    self.deliver = deliver
    random = SplitMix64(seed: follower.seed)
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "FleetFollower: request(.none) requests nothing; request at least one value")
    guard deliver != nil else { return }
    self.demand += demand
    if hasBegun { return goOn() }
    hasBegun = true
    begin()
  }

  func cancel() {
    deliver = nil
    waiting = []
    stop()
    timer.take()?.cancel()
  }

  func stop() {
    round += 1
    work = nil
    fetching = nil
    isFetching = false
    log.take()?.cancel()
    isLogAsked = false
    looking = nil
    lookTimer.take()?.cancel()
    missing = nil
  }

  // MARK: Delivering

  func send(_ event: FleetFollower.Event) {
    // The subscriber may have cancelled during the event before this one.
    guard deliver != nil else { return }
    waiting.append(event)
    goOn()
  }

  private func goOn() {
    guard !isDelivering else { return }
    isDelivering = true
    while demand > .none, let deliver, !waiting.isEmpty {
      demand -= 1
      demand += deliver(waiting.removeFirst())
    }
    isDelivering = false
    askLog()
  }

  // MARK: Beginning

  private func begin() {
    guard deliver != nil else { return }
    stop()
    guard let cursor else { return snapshot(isReset: false) }
    work = engine.holds(cursor).sink { [weak self] in
      self?.ended($0)
    } receiveValue: { [weak self] holds in
      guard let self else { return }
      guard holds else { return snapshot(isReset: true) }
      // After a refusal, this step doesn't show whether the engine works again.
      if away?.error.isTemporary != false { recovered() }
      follow(after: cursor)
    }
  }

  func snapshot(isReset: Bool) {
    let engine = engine
    // The log and the list are read first: updates written while the feeds are read are delivered again, not missed.
    let log = engine.latest(Self.history).zip(engine.end(), engine.edition())
    work = log.flatMap { [addresses = addresses] history, end, edition in
      addresses.flatMap { all, isCut in
        engine.feeds(all, withImages: true).map { feeds in
          let snapshot = FleetSnapshot(
            feeds: Array(zip(all, feeds)).map { (address: $0, feed: $1) }, history: history,
            // The position that belongs to the history.
            cursor: history.last?.cursor ?? end, isReset: isReset, isCut: isCut)
          return (snapshot, edition)
        }
      }
    }
    .sink { [weak self] in
      self?.ended($0)
    } receiveValue: { [weak self] snapshot, edition in
      self?.edition = edition
      self?.take(snapshot)
    }
  }

  /// The number of updates in a snapshot, for clients that come from other gateways.
  private static let history = 4000

  /// The feeds to follow, and true if there are more.
  var addresses: AnyPublisher<([URL], isCut: Bool), FleetError> {
    let most = follower.most
    if let wanted = follower.wanted {
      return Just((Array(wanted.prefix(most)), wanted.count > most)).setFailureType(to: FleetError.self)
        .eraseToAnyPublisher()
    }
    return engine.first(most + 1).map { (Array($0.prefix(most)), $0.count > most) }.eraseToAnyPublisher()
  }

  private func take(_ snapshot: FleetSnapshot) {
    away = nil
    failures = 0
    versions = Dictionary(snapshot.feeds.map { ($0.address, $0.feed?.version) }) { first, _ in first }
    cursor = snapshot.cursor
    send(.snapshot(snapshot))
    follow(after: snapshot.cursor)
  }

  func ended(_ completion: Subscribers.Completion<FleetError>, isList: Bool = false) {
    if case .failure(let error) = completion { failed(error, isList: isList) }
  }

  private func failed(_ error: FleetError, isList: Bool = false) {
    guard deliver != nil else { return }
    stop()
    // A different reason is delivered, too, because it may need a different remedy.
    if away?.error != error { send(.away(error)) }
    // The subscriber may have cancelled.
    guard deliver != nil else { return }
    away = (error, isList && !error.isTemporary)
    failures += 1
    let pause = RetryPolicy.between(follower.pauses).pause(before: failures - 1, using: &random)
    timer?.cancel()
    timer = follower.scheduler.once(after: pause) { [weak self] in
      self?.begin()
    }
  }

  /// - Parameter isList: true if the list is known to be up to date.
  func recovered(isList: Bool = false) {
    failures = 0
    guard let away, isList || !away.isList else { return }
    self.away = nil
    send(.back)
  }

  // MARK: The log

  private func follow(after cursor: UpdateCursor) {
    guard deliver != nil else { return }
    round += 1
    let round = round
    planLook()
    engine.updates(after: cursor).subscribe(
      AnySubscriber(
        receiveSubscription: { [weak self] subscription in
          guard let self, round == self.round else { return subscription.cancel() }
          log = subscription
          askLog()
        },
        receiveValue: { [weak self] update in
          if let self, round == self.round { note(update) }
          return .none
        },
        receiveCompletion: { [weak self] completion in
          guard let self, round == self.round else { return }
          log = nil
          ended(completion)
        }))
  }

  private func askLog() {
    guard let log, !isLogAsked, !isFetching, waiting.isEmpty, demand > .none else { return }
    isLogAsked = true
    log.request(.max(1))
  }

  private func note(_ logged: LoggedUpdate) {
    isLogAsked = false
    // The log was trimmed while the subscriber requested nothing.
    if let previous = logged.previous, previous != cursor {
      stop()
      return snapshot(isReset: true)
    }
    let address = logged.update.address
    let isNew = versions[address] == nil
    if isNew, follower.wanted != nil || versions.count >= follower.most {
      cursor = logged.cursor
      return send(.passed(logged.cursor))
    }
    if let known = versions[address] ?? nil, known == logged.update.version {
      cursor = logged.cursor
      return send(.update(nil, for: logged))
    }
    // An engine may reply before `sink` returns.
    isFetching = true
    fetching = engine.feeds([address], withImages: true).sink { [weak self] completion in
      self?.isFetching = false
      if case .failure(let error) = completion { self?.failed(error) } else { self?.askLog() }
    } receiveValue: { [weak self] feeds in
      self?.fetched(feeds[0], logged)
    }
  }

  private func fetched(_ feed: FleetFeed?, _ logged: LoggedUpdate) {
    recovered()
    // The subscriber may have cancelled.
    guard deliver != nil else { return }
    cursor = logged.cursor
    let known = versions[logged.update.address] ?? nil
    // The feed has since been removed, but clients of other gateways may have the id.
    guard let feed, let version = feed.version else { return send(.update(nil, for: logged)) }
    // The version is older after a failover to an engine whose clock is behind.
    if let known, version < known {
      stop()
      return snapshot(isReset: true)
    }
    versions[feed.address] = version
    send(.update(version == known ? nil : feed, for: logged))
  }
}
