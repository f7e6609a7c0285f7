import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting

/// Knows what must be shown, by watching the network and the disk from outside and keeping its own account of them.
///
/// What it holds the pipeline to, after every event:
/// 1. A feed shown as the server's is the newest that the server gave; it is shown before it is saved.
/// 2. A feed shown as saved is the newest one whose save was committed. Newest is by the time it was asked for; see
///    `FeedCachePolicy.isSuperseded` for a clock that was set back.
/// 3. What is shown from the cache had not expired when the load that shows it looked.
/// 4. A load that showed the server's feed does not end before that feed is saved or the failure is reported; what was
///    saved is there after a crash; and nothing deletes it that had no reason to.
/// 5. One load at a time, and one call of the store at a time, in the order asked.
/// 6. A poll every minute, to the nanosecond; after a crash nothing is delivered and nothing is left over.
final class Oracle {
  /// What must be shown once a load has ended.
  enum Outcome {
    case nothing
    case remote(ScriptedServer.Version)
    case saved(CachedFeed, because: Refusal)
    case error(Refusal, cache: FeedStoreError?)
  }

  /// Why the server's feed cannot be had.
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

  /// How far the present load is.
  enum Phase {
    case idle
    case asking(Date)
    case given(ScriptedServer.Version, asked: Date, isSaved: Bool)
    case refused(Refusal)
    case looked(Outcome)
  }

  static let interval: StreamInstant.Stride = 60

  let time: VirtualTimeScheduler
  let clock: WallClock
  let maxAge: Double
  var report: PollingReport

  /// What the user sees; `nil` before anything was delivered to this process.
  private(set) var shown: FeedResult?
  var phase = Phase.idle
  /// What is committed, by our own account.
  var saved: CachedFeed?
  /// How many of the validations that a process begins with are still to come.
  var validationsDue = 0
  /// The call of the store that a deletion may follow.
  var lastLook: (time: StreamInstant, wall: Date, hasFailed: Bool, isValidation: Bool)?
  var lastCall: StreamInstant?
  var unreported = 0

  private var opened: StreamInstant?
  private var isRunning = false
  private var openRequests = 0

  init(time: VirtualTimeScheduler, clock: WallClock, report: PollingReport) {
    self.time = time
    self.clock = clock
    maxAge = Double(report.maxAge)
    self.report = report
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    report.checks += 1
    guard !condition, report.violation == nil else { return }
    report.violation = .init(time: time.now, message: message())
  }

  /// Whether a feed may be shown, by an arithmetic of our own.
  func isFresh(_ timestamp: Date, at now: Date) -> Bool {
    let age = ((now.timeIntervalSince1970 - timestamp.timeIntervalSince1970) * 1e6).rounded() / 1e6
    return age < maxAge && age >= -300
  }

  // MARK: Processes

  func processBegan(finding committed: CachedFeed?, isDamaged: Bool) {
    require(
      isDamaged ? committed == nil : committed == saved,
      "what was saved is not there after the crash: \(describe(committed)) instead of \(describe(saved))")
    isRunning = true
    validationsDue = 2
    opened = nil
    lastCall = nil
    lastLook = nil
  }

  func processEnded() {
    require(openRequests == 0, "a request is open after its subscriber went away")
    isRunning = false
    shown = nil
    phase = .idle
    unreported = 0
  }

  // MARK: The network

  func exchange(_ exchange: VirtualExchange, given version: ScriptedServer.Version?) {
    guard let ending = exchange.ending else { return loadBegan() }
    openRequests -= 1
    guard case .asking(let asked) = phase else { return require(false, "an answer came that nobody asked for") }
    switch ending {
    case .answered(let response):
      guard response.status == 200, let version, version.body == response.body else {
        phase = .refused(.noFeed)
        return
      }
      report.feeds += 1
      phase = .given(version, asked: asked, isSaved: false)
    case .failed(let error): phase = .refused(.noAnswer(error))
    case .cancelled: phase = .idle
    }
  }

  private func loadBegan() {
    report.polls += 1
    report.note(time.now.nanoseconds, 1)
    require(isRunning, "a process that has crashed makes a request")
    require(openRequests == 0, "two requests at once")
    openRequests += 1
    if let opened {
      loadEnded()
      require(
        opened.distance(to: time.now) == Self.interval,
        "a poll came \(opened.distance(to: time.now)) after the last one")
    }
    opened = time.now
    phase = .asking(clock.now)
  }

  /// The last load must have ended, and have shown what it was to show.
  private func loadEnded() {
    require(unreported == 0, "a save failed and nobody was told")
    switch phase {
    case .given(let version, _, let isSaved):
      require(isSaved, "the next load began before feed \(version.number), which is shown, was saved")
      require(isShown(.remote(version)), "feed \(version.number) is the newest but \(describe(shown)) is shown")
    case .looked(let outcome):
      require(isShown(outcome), "\(outcome) should be shown instead of \(describe(shown))")
    case .idle, .asking, .refused: require(false, "a load began before the last one ended")
    }
  }

  // MARK: The screen

  func delivered(_ result: FeedResult) {
    report.deliveries += 1
    report.note(time.now.nanoseconds, 2)
    require(isRunning, "something was delivered after cancel")
    switch (result, phase) {
    case (.success(let feed), .given(let version, _, _)):
      require(
        feed.origin.isRemote && feed.images == version.images,
        "\(describe(result)) was delivered; the newest is feed \(version.number)")
      // The same images, but the very array of the version: to be compared with it a thousand times at once.
      shown = .success(Feed(images: version.images, origin: feed.origin))
      return
    case (.success(let feed), .looked(.saved(let saved, let refusal))):
      report.savedFeeds += 1
      guard case .cache(let savedAt, _, let reason) = feed.origin else {
        return require(false, "a saved feed was delivered as the server's")
      }
      require(feed.images == saved.images && savedAt == saved.timestamp, "an older saved feed was delivered")
      require(refusal.matches(reason), "the reason for showing a saved feed is \(reason); it should be \(refusal)")
    case (.failure(let error), .looked(.error(let refusal, let cache))):
      report.errors += 1
      require(refusal.matches(error.remote) && error.cache == cache, "\(error) was delivered; see \(refusal)")
    default: require(false, "\(describe(result)) was delivered without a cause (\(phase))")
    }
    shown = result
  }

  func isShown(_ outcome: Outcome) -> Bool {
    switch (outcome, shown) {
    case (.nothing, nil): true
    case (.remote(let version), .success(let feed)): feed.origin.isRemote && feed.images == version.images
    case (.saved(let saved, _), .success(let feed)): !feed.origin.isRemote && feed.images == saved.images
    case (.error(let refusal, let cache), .failure(let error)): refusal.matches(error.remote) && error.cache == cache
    default: false
    }
  }

  /// Checks what holds at every instant.
  func check() {
    guard isRunning else { return require(openRequests == 0, "a crashed process has a request open") }
    if let opened { require(opened.distance(to: time.now) <= Self.interval, "no poll came for a minute") }
    // A saved feed on the screen was fresh when a load looked last; the next looks within the minute.
    guard case .success(let feed) = shown, case .cache(let savedAt, _, _) = feed.origin else { return }
    guard case .looked(.saved(let saved, _)) = phase, let look = lastLook else { return }
    require(isFresh(saved.timestamp, at: look.wall), "an expired feed is shown, saved at \(savedAt)")
  }

  func describe(_ result: FeedResult?) -> String {
    switch result {
    case nil: "nothing"
    case .success(let feed): "\(feed.origin.isRemote ? "the server's" : "a saved") feed of \(feed.images.count) images"
    case .failure(let error): "the error \"\(error)\""
    }
  }

  func describe(_ feed: CachedFeed?) -> String {
    feed.map { "a feed of \($0.images.count) images saved at \($0.timestamp)" } ?? "nothing"
  }
}
