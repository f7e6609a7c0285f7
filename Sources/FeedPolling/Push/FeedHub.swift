public import FeedHTTP
public import FeedStream
public import Foundation
public import ImageFeed

/// A hub for a server's own feeds: when a feed changes, it sends the whole feed to the subscribers (W3C WebSub).
///
/// A server passes subscription requests to the hub (``take(_:)``), and the server's feeds name the hub. Call
/// ``changed()`` after a change. Each subscription is verified at its callback before it takes effect, and ends with
/// its lease. Callbacks in private networks are refused, because strangers choose callback URLs. Subscriptions are kept
/// in a store, if there is one. Use it on its scheduler's thread.
public final class FeedHub {
  /// A due or running delivery.
  struct Delivery {
    /// The mark of the latest known content.
    var mark: String
    var attempt = 0
    /// The time of the next attempt, which doesn't depend on the wall clock; `nil` while an attempt is running.
    var due: StreamInstant?
    /// True when the feed has changed again since it was read for the running attempt.
    var isOutdated = false
  }

  /// A request waiting for verification.
  struct Verification {
    let subscription: HubSubscription
    let mode: String
    let lease: Duration
    /// The host of the callback.
    let host: String

    init(subscription: HubSubscription, mode: String, lease: Duration) {
      (self.subscription, self.mode, self.lease) = (subscription, mode, lease)
      host = subscription.callback.hostForLimits
    }
  }

  /// The hub's own URL.
  public let url: URL
  let client: any HTTPClient
  let scheduler: any LoopScheduler
  let options: Options
  let now: () -> Date
  /// The content of a feed; completes without a value if none of this server's feeds has the URL.
  let content: (URL) -> AnyPublisher<Content, Never>
  let isTopic: (URL) -> Bool
  /// Receives the store's error when the store fails. Does nothing by default.
  package var report: (FeedStoreError) -> Void = { _ in }
  let store: (any NoteStore)?
  let saver: SerialWorker
  var subscriptions: [HubSubscription.Key: HubSubscription] = [:]
  var deliveries: [HubSubscription.Key: Delivery] = [:]
  /// The marks of the contents that couldn't be delivered: only later ones are.
  var abandoned: [HubSubscription.Key: String] = [:]
  var verifications: [Verification] = []
  /// The running verifications: at most one per host, and half of all requests, because a callback that doesn't respond
  /// takes until the time limit.
  var verifying: [Verification] = []
  var running: [Int: AnyCancellable] = [:]
  var contents: [Int: AnyCancellable] = [:]
  private var number = 0
  var isSaving = false
  /// True when the saved subscriptions have been read.
  var isRead = false
  /// The changes that haven't been saved yet.
  var changes: [HubSubscription.Key: HubChange] = [:]
  /// The next write, if it waits for other deliveries.
  var delayed: (any Cancellable)?
  /// The next attempt to read the saved subscriptions.
  var reading: (any Cancellable)?
  private(set) var isOver = false
  let clock: PollingClock
  /// The time when the wall clock was last set forward, perhaps by mistake.
  var jump: StreamInstant?
  private var gathering: (any Cancellable)?
  private var timer: (any Cancellable)?

  /// - Parameters:
  ///   - store: keeps the subscriptions; `nil` to forget them when the process ends.
  ///   - saver: runs the calls to the store; a worker of its own by default.
  package init(
    at url: URL, client: any HTTPClient, store: (any NoteStore)? = nil, saver: SerialWorker? = nil,
    on scheduler: any LoopScheduler, options: Options = Options(), now: @escaping () -> Date = { Date() },
    isTopic: @escaping (URL) -> Bool,
    content: @escaping (URL) -> AnyPublisher<Content, Never>
  ) {
    (self.url, self.client, self.store, self.scheduler) = (url, client, store, scheduler)
    (self.options, self.now, self.isTopic, self.content) = (options, now, isTopic, content)
    self.saver = saver ?? SerialWorker(on: scheduler)
    clock = PollingClock(scheduler, wall: now)
    _ = clock.jump()
    resume()
  }

  /// A hub whose subscriptions are kept in a cache file.
  ///
  /// - Parameters:
  ///   - url: the public URL of the hub.
  ///   - client: sends the requests to subscribers.
  ///   - store: the cache file.
  ///   - cache: its worker runs the calls to the store, so that `FeedCache.whenIdle(_:)` waits for them.
  ///   - now: the wall clock.
  ///   - isTopic: returns true for the URL of a feed whose changes are announced.
  ///   - content: returns the content of the feed at such a URL.
  public convenience init(
    at url: URL, client: any HTTPClient, keptIn store: SQLiteFeedStore, cache: FeedCache,
    on scheduler: any LoopScheduler, options: Options = Options(), now: @escaping () -> Date = { Date() },
    isTopic: @escaping (URL) -> Bool,
    content: @escaping (URL) -> AnyPublisher<Content, Never>
  ) {
    self.init(
      at: url, client: client, store: store, saver: cache.worker, on: scheduler, options: options, now: now,
      isTopic: isTopic, content: content)
  }

  /// The number of verified subscriptions, including expired ones that the hub has not removed yet.
  public var count: Int { subscriptions.count }

  // MARK: For the server

  /// Compares the feeds with the content sent last, after the time for which changes are gathered, and sends the feeds
  /// that changed.
  public func changed() {
    guard !subscriptions.isEmpty, gathering == nil else { return }
    gathering = scheduler.once(after: options.quiet) { [weak self] in
      guard let self else { return }
      gathering = nil
      for topic in Set(subscriptions.values.map(\.topic)) { compare(topic) }
    }
  }

  /// Cancels the running requests, and saves the changes. Subscriptions stay in the store.
  public func cancel() {
    (running, contents, deliveries, verifications, verifying) = ([:], [:], [:], [], [])
    isOver = true
    for timer in [gathering.take(), timer.take(), reading.take(), delayed.take()] { timer?.cancel() }
    write()
  }

  // MARK: Work

  /// Starts the requests that are due, and waits for the next one.
  func pump() {
    timer.take()?.cancel()
    while running.count < options.maxRunning, verifying.count < max(1, options.maxRunning / 2),
      let place = verifications.firstIndex(where: { !isVerifying(at: $0.host) })
    {
      verify(verifications.remove(at: place))
    }
    let present = scheduler.now
    var next: StreamInstant?
    for key in deliveries.keys {
      // A delivery that ends immediately starts others.
      guard let due = deliveries[key]?.due else { continue }
      if due > present {
        next = min(next ?? due, due)
      } else if running.count < options.maxRunning {
        deliver(key)
      }
    }
    guard let next else { return }
    timer = scheduler.once(after: present.distance(to: next)) { [weak self] in self?.pump() }
  }

  private func isVerifying(at host: String) -> Bool { verifying.contains { $0.host == host } }

  func nextNumber() -> Int {
    number += 1
    return number
  }

  /// Retains a request until it completes, and then calls `done`.
  func run<P: Publisher>(_ work: P, _ done: @escaping (P.Output?) -> Void) where P.Failure == Never {
    let own = nextNumber()
    var isOver = false
    var value: P.Output?
    let request = work.sink { [weak self] _ in
      guard let self else { return }
      isOver = true
      running[own] = nil
      done(value)
      pump()
    } receiveValue: {
      value = $0
    }
    if !isOver { running[own] = request }
  }
}
