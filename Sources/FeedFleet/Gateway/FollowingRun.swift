import FeedRedis
import FeedStream
import Foundation
import ImageFeed

/// One subscription to a ``FleetFollower``.
final class FollowingRun: Subscription {
  private let follower: FleetFollower
  private var engine: any FleetFollower.Engine { follower.engine }
  private var deliver: ((FleetFollower.Event) -> Subscribers.Demand)?
  private var demand = Subscribers.Demand.none
  private var waiting: [FleetFollower.Event] = []
  private var isDelivering = false
  private var hasBegun = false
  private var work: AnyCancellable?
  private var log: (any Subscription)?
  private var fetching: AnyCancellable?
  private var isLogAsked = false
  private var timer: (any Cancellable)?
  private var failures = 0
  /// The failure that was delivered last; `nil` while the engine is well.
  private var away: FleetError?
  /// The place up to which everything was delivered.
  private var cursor: UpdateCursor?
  private var versions: [URL: FeedVersion?] = [:]
  /// Counts connections to the log, so that what an old one says late is not heard.
  private var round = 0
  private var random: PollRandom

  init(_ follower: FleetFollower, _ deliver: @escaping (FleetFollower.Event) -> Subscribers.Demand) {
    self.follower = follower
    self.deliver = deliver
    random = PollRandom(seed: follower.seed)
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "FleetFollower: request(.none) asks for nothing; request one or more")
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

  private func stop() {
    round += 1
    work = nil
    fetching = nil
    log.take()?.cancel()
    isLogAsked = false
  }

  // MARK: Delivering

  private func send(_ event: FleetFollower.Event) {
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
      well()
      follow(after: cursor)
    }
  }

  private func snapshot(isReset: Bool) {
    let (engine, most) = (engine, follower.most)
    // The end of the log first: what is written while the feeds are read comes again, and not too late.
    let history = engine.latest(1000)
    let end = engine.end()
    let addresses =
      follower.wanted.map { Just($0).setFailureType(to: FleetError.self).eraseToAnyPublisher() }
      ?? engine.addresses().prefix { [count = Counter()] page in
        defer { count.value += page.count }
        return count.value <= most
      }
      .reduce([]) { $0 + $1 }.map { $0.sorted { $0.absoluteString < $1.absoluteString } }.eraseToAnyPublisher()
    work = end.zip(history)
      .flatMap { end, history in
        addresses.flatMap { all -> AnyPublisher<FleetSnapshot, FleetError> in
          let some = Array(all.prefix(most))
          return engine.feeds(some, withImages: true)
            .map { feeds in
              FleetSnapshot(
                feeds: Array(zip(some, feeds)).map { (address: $0, feed: $1) }, history: history, cursor: end,
                isReset: isReset, isCut: all.count > most)
            }
            .eraseToAnyPublisher()
        }
      }
      .sink { [weak self] in
        self?.ended($0)
      } receiveValue: { [weak self] in
        self?.take($0)
      }
  }

  private func take(_ snapshot: FleetSnapshot) {
    away = nil
    failures = 0
    versions = Dictionary(snapshot.feeds.map { ($0.address, $0.feed?.version) }) { first, _ in first }
    cursor = snapshot.cursor
    send(.snapshot(snapshot))
    follow(after: snapshot.cursor)
  }

  private func ended(_ completion: Subscribers.Completion<FleetError>) {
    if case .failure(let error) = completion { failed(error) }
  }

  private func failed(_ error: FleetError) {
    guard deliver != nil else { return }
    stop()
    // Another reason is news: it may want another remedy.
    if away != error { send(.away(error)) }
    away = error
    failures += 1
    let longest = min(follower.pauses.lowerBound * (1 << min(failures - 1, 16)), follower.pauses.upperBound)
    timer?.cancel()
    timer = follower.scheduler.later(longest * Double.random(in: 0.5...1, using: &random)) { [weak self] in
      self?.begin()
    }
  }

  private func well() {
    failures = 0
    guard away != nil else { return }
    away = nil
    send(.back)
  }

  // MARK: The log

  private func follow(after cursor: UpdateCursor) {
    guard deliver != nil else { return }
    round += 1
    let round = round
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
    guard let log, !isLogAsked, fetching == nil, waiting.isEmpty, demand > .none else { return }
    isLogAsked = true
    log.request(.max(1))
  }

  private func note(_ logged: LoggedUpdate) {
    isLogAsked = false
    let address = logged.update.address
    let isNew = versions[address] == nil
    if isNew, follower.wanted != nil || versions.count >= follower.most {
      cursor = logged.cursor
      return askLog()
    }
    // A later one than this was fetched already, or the engine went back: only the feed tells which.
    if let known = versions[address] ?? nil, known == logged.update.version {
      cursor = logged.cursor
      return askLog()
    }
    fetching = engine.feeds([address], withImages: true).sink { [weak self] completion in
      self?.fetching = nil
      if case .failure(let error) = completion { self?.failed(error) } else { self?.askLog() }
    } receiveValue: { [weak self] feeds in
      self?.fetched(feeds[0], logged)
    }
  }

  private func fetched(_ feed: FleetFeed?, _ logged: LoggedUpdate) {
    cursor = logged.cursor
    let known = versions[logged.update.address] ?? nil
    // It was removed since, or is what was shown.
    guard let feed, let version = feed.version, version != known else { return }
    // After a failover to an engine whose clock is behind.
    if let known, version < known {
      stop()
      return snapshot(isReset: true)
    }
    versions[feed.address] = version
    send(.update(feed, at: logged.cursor))
  }
}

private final class Counter { var value = 0 }
