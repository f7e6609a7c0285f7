import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting

/// Computes the expected results from its own record of what happens on the network and the disk.
///
/// After every event, it checks these rules:
/// 1. A feed shown as the server's is the newest one that the server sent; it is shown before it is saved.
/// 2. A feed shown as saved is the newest one whose save was committed. The newest is the one requested last; see
///    `FeedCachePolicy.isSuperseded` for a clock that was set back.
/// 3. A feed shown from the cache had not expired when its load read it, and its age is reported. A feed that expires
///    while it is on the screen is gone after the next load.
/// 4. A load that showed the server's feed does not end before that feed is saved or the failure is reported. The save
///    is requested immediately, so a crash loses a shown feed only if it happens within milliseconds. A saved feed
///    survives a crash. A validation deletes a feed if it is expired or unreadable, and nothing else deletes one.
/// 5. There is one load at a time, and one call to the store at a time, in the order of the requests.
/// 6. A process polls at its start and every minute after that, exact to the nanosecond, but skips minutes during a
///    slow load. After a crash, nothing is delivered, and no object of the process remains.
final class Oracle {
  /// The result that must be shown once a load has ended.
  enum Outcome {
    case nothing
    case remote(ScriptedServer.Version)
    case saved(CachedFeed, because: Refusal)
    case error(Refusal, cache: CacheMiss)
  }

  /// The reason why the server's feed is unavailable.
  enum Refusal {
    case noAnswer(HTTPError)
    case noFeed

    func matches(_ error: RemoteFeedError) -> Bool {
      switch (self, error) {
      case (.noAnswer(let expected), .connectivity(let error)): expected == error
      case (.noFeed, .invalidData): true
      default: false
      }
    }
  }

  /// The progress of the current load.
  enum Phase {
    case idle
    case asking(Date)
    case given(ScriptedServer.Version, asked: Date, isSaved: Bool)
    case refused(Refusal)
    case looked(Outcome)
  }

  static let interval: StreamInstant.Stride = 60
  /// The maximum time from the start of a process to its first request.
  static let patience: StreamInstant.Stride = .milliseconds(100)

  let time: VirtualTimeScheduler
  let clock: WallClock
  let maxAge: Double
  /// The time that work on the thread pool takes.
  let latency: StreamInstant.Stride
  var report: PollingReport

  /// The result on the screen; `nil` before anything was delivered to this process.
  private(set) var shown: FeedResult?
  var phase = Phase.idle
  /// The committed feed, according to the oracle's own record.
  var saved: CachedFeed?
  /// The number of validations at the start of a process that haven't run yet.
  var validationsDue = 0
  /// The call to the store that a deletion may follow.
  var lastLook: (time: StreamInstant, wall: Date, hasFailed: Bool, isValidation: Bool)?
  /// True if a validation couldn't read a feed, and then deleted nothing: at once, it may read the feed again.
  var mayLookAgain = false
  var lastCall: StreamInstant?
  var unreported = 0
  /// The description of a feed that must be deleted before the next check.
  var deletionDue: String?
  /// True if the server confirmed the saved feed, but that feed can't be read, so the current load makes a second
  /// request.
  var isAskingAgain = false
  /// The time at which a load last found that the saved feed may be shown.
  var foundFresh: StreamInstant?

  /// The time at which the current process began, until its first poll.
  var began: StreamInstant?
  var opened: StreamInstant?
  /// The time at which the last request ended.
  var closed: StreamInstant?
  /// The time at which the server's feed on the screen arrived.
  var shownAt: StreamInstant?
  var isRunning = false
  var openRequests = 0

  init(time: VirtualTimeScheduler, clock: WallClock, latency: StreamInstant.Stride, report: PollingReport) {
    self.time = time
    self.latency = latency
    self.clock = clock
    maxAge = Double(report.maxAge)
    self.report = report
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    report.checks += 1
    guard !condition, report.violation == nil else { return }
    report.violation = .init(time: time.now, message: message())
  }

  /// True if a feed may be shown, by the oracle's own calculation.
  func isFresh(_ timestamp: Date, at now: Date) -> Bool {
    let age = ((now.timeIntervalSince1970 - timestamp.timeIntervalSince1970) * 1e6).rounded() / 1e6
    return age < maxAge && age >= -300
  }

  // MARK: Processes

  func processBegan(finding committed: CachedFeed?, isDamaged: Bool) {
    require(
      isDamaged ? committed == nil : committed == saved,
      "the saved feed is missing after the crash: \(describe(committed)) instead of \(describe(saved))")
    isRunning = true
    validationsDue = 2
    began = time.now
    isAskingAgain = false
    opened = nil
    closed = nil
    lastCall = nil
    lastLook = nil
    mayLookAgain = false
  }

  func processEnded() {
    require(openRequests == 0, "a request is open after its subscriber was released")
    if case .given(let version, _, isSaved: false) = phase, let shownAt {
      require(
        shownAt.distance(to: time.now) <= .milliseconds(20),
        "feed \(version.number) had been shown for \(shownAt.distance(to: time.now)) and was not saved before the crash"
      )
    }
    isRunning = false
    deletionDue = nil
    foundFresh = nil
    shownAt = nil
    shown = nil
    phase = .idle
    unreported = 0
  }

  // MARK: The screen

  func delivered(_ result: FeedResult) {
    report.deliveries += 1
    report.note(time.now.nanoseconds, 2, images(of: result))
    require(isRunning, "something was delivered after cancel")
    switch (result, phase) {
    case (.success(let feed), .given(let version, _, _)):
      require(
        feed.source.isRemote && feed.images == version.images,
        "\(describe(result)) was delivered; the newest is feed \(version.number)")
      shownAt = time.now
      // Store the version's own list, which has the same images: `shown` is compared with it a thousand times, and
      // comparing a list with itself is fast.
      shown = .success(Feed(images: version.images, source: feed.source))
      return
    case (.success(let feed), .looked(.saved(let saved, let refusal))):
      report.savedFeeds += 1
      guard case .cache(let savedAt, let age, let reason) = feed.source else {
        return require(false, "a saved feed was delivered as the server's")
      }
      require(feed.images == saved.images && savedAt == saved.timestamp, "an older saved feed was delivered")
      let microseconds = ((clock.now.timeIntervalSince1970 - saved.timestamp.timeIntervalSince1970) * 1e6).rounded()
      require(age == .microseconds(microseconds), "a feed saved at \(exact(savedAt)) was delivered as \(age) old")
      require(refusal.matches(reason), "the reason for showing a saved feed is \(reason); it should be \(refusal)")
    case (.failure(let error), .looked(.error(let refusal, let cache))):
      report.errors += 1
      require(
        refusal.matches(error.remote) && error.cache == cache,
        "\(error) was delivered, which doesn't match \(refusal)")
    default: require(false, "\(describe(result)) was delivered without a cause (\(phase))")
    }
    shown = result
  }

  /// A number computed from what is shown, for the fingerprint.
  private func images(of result: FeedResult) -> Int64 {
    guard case .success(let feed) = result else { return -1 }
    return feed.images.reduce(Int64(feed.images.count)) {
      $0 &* 31 &+ Int64($1.id.uuid.uuid.15) &+ Int64($1.id.uuid.uuid.14) << 8
    }
  }

  func isShown(_ outcome: Outcome) -> Bool {
    switch (outcome, shown) {
    case (.nothing, nil): true
    case (.remote(let version), .success(let feed)): feed.source.isRemote && feed.images == version.images
    case (.saved(let saved, _), .success(let feed)): !feed.source.isRemote && feed.images == saved.images
    // An error's cache is reported again only if the store has failed differently.
    case (.error(let refusal, let cache), .failure(let error)):
      refusal.matches(error.remote) && error.cache.failure == cache.failure
    default: false
    }
  }

  /// Checks the conditions that hold at every instant.
  func check() {
    guard isRunning else { return require(openRequests == 0, "a crashed process has an open request") }
    require(deletionDue == nil, "\(deletionDue ?? "") was found and not deleted")
    guard let opened else {
      return require(
        began.map { $0.distance(to: time.now) <= Self.patience } ?? false, "a process began without a poll")
    }
    let spent = opened.distance(to: openRequests > 0 ? time.now : closed ?? time.now)
    let limit = spent > Self.interval - .milliseconds(100) ? 2 * Self.interval : Self.interval
    require(opened.distance(to: time.now) <= limit, "no poll came for a minute")
    // A saved feed may expire on the screen. The next load, which begins within two minutes, removes it.
    guard case .success(let feed) = shown, case .cache(let savedAt, _, _) = feed.source else { return }
    guard !isFresh(savedAt, at: clock.now) else { return }
    require(
      foundFresh.map { $0.distance(to: time.now) <= 4 * Self.interval } ?? false,
      "an expired feed, saved at \(exact(savedAt)), is shown")
  }

  func describe(_ result: FeedResult?) -> String {
    switch result {
    case nil: "nothing"
    case .success(let feed):
      "\(feed.source.isRemote ? "the server's" : "a saved") feed with \(feed.images.count) images"
    case .failure(let error): "the error \"\(error)\""
    }
  }

  /// The date to the millisecond, because most differences are that small.
  func exact(_ date: Date) -> String { Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date) }

  func describe(_ feed: CachedFeed?) -> String {
    feed.map { "a feed with \($0.images.count) images saved at \(exact($0.timestamp))" } ?? "nothing"
  }
}
