import FeedStream
import Foundation
package import ImageFeed
import Synchronization

/// One poll of one feed, under a lease: sends the request and evaluates the response. The poll's owner completes the
/// lease.
///
/// A process may run ten thousand polls per hour, and most of them find no change. So a poll creates the operators of a
/// load only if the feed must be read. A poll uses the store only if there is nothing from the server to show.
package final class FeedPoll: Cancellable {
  /// The options of a poll.
  package struct Terms {
    package var feed: PolledAddress
    var client: GuardedClient
    package var scheduler: any LoopScheduler
    /// The host's pause after the request.
    package var gap: Duration
    /// The wall clock.
    package var now: @Sendable () -> Date
    /// Determines how due times are spread.
    package var seed: UInt64
    /// The validators of the feed shown last, if it is still shown: the feed then needn't be read if it hasn't changed.
    package var shown: FeedValidators?
    /// True when a hub announces the feed's changes.
    package var isPushed = false
    /// True to get the images as bytes, created on the thread that reads the document.
    package var encodes = false

    init(
      _ feed: PolledAddress, client: GuardedClient, on scheduler: any LoopScheduler, gap: Duration,
      now: @escaping @Sendable () -> Date, seed: UInt64, shown: FeedValidators?
    ) {
      (self.feed, self.client, self.scheduler, self.gap) = (feed, client, scheduler, gap)
      (self.now, self.seed, self.shown) = (now, seed, shown)
    }
  }

  /// The outcome of a poll.
  package struct Outcome {
    package var completion: PollCompletion
    /// The result; `nil` if the shown feed has not changed.
    package var result: FeedResult?
    /// The validators of the saved and shown feed, after the lease is completed; `nil` if they are unknown.
    package var shown: FeedValidators?
    /// The images to save, as bytes, if those were requested.
    package var document: [UInt8]?
  }

  private let lease: PollLease
  private let terms: Terms
  private let exchange = PollExchange()
  private var requests: FeedRequests
  private let saved: () -> SavedFeed
  // Created when the feed is read, which most polls don't do.
  private var copy: PollCopy?
  private var bytes: EncodedImages?
  private var done: ((Outcome) -> Void)?
  /// A response that has already arrived, for the operators of the load.
  private var response: Result<StreamingResponse, HTTPError>?
  private var steps: [any Cancellable] = []

  /// - Parameters:
  ///   - saved: the saved feed, evaluated when the feed is read.
  ///   - done: receives the outcome, unless this poll is cancelled first. Called again after a later ``read()``.
  package init(
    _ lease: PollLease, _ terms: Terms, saved: @escaping @autoclosure () -> SavedFeed,
    done: @escaping (Outcome) -> Void
  ) {
    self.lease = lease
    self.terms = terms
    self.saved = saved
    self.done = done
    requests = FeedRequests(
      of: terms.feed.address, at: lease.feed.requestAddress, client: terms.client, on: terms.scheduler,
      options: terms.feed.options)
  }

  package func cancel() {
    done = nil
    for step in steps { step.cancel() }
    steps = []
  }

  /// True if a moved feed's URL may lead to a private network: the redirect came from one, or the URL is still the
  /// user's own, over TLS. A redirect from an unknown address isn't trusted.
  private var moveIsPrivate: Bool {
    guard let move = lease.feed.move else { return false }
    return move.isFromPrivateNetwork ?? move.to.isSecured(lease.feed.address)
  }

  /// Sends the request. If the response reports that nothing has changed and the saved feed is shown, nothing is read.
  package func begin() {
    guard let since = lease.since, since == terms.shown,
      let request = requests.conditionalRequest(since: since, namedBy: moveIsPrivate)
    else {
      return read()
    }
    exchange.requested(request)
    // Without operators, because most polls take this path, and each operator takes several allocations.
    let step = terms.client.open(request).sink { [self] completion in
      guard case .failure(let error) = completion else { return }
      response = .failure(error)
      read()
    } receiveValue: { [self] response in
      exchange.responded(response)
      self.response = .success(response)
      if exchange.isUnchanged { renew(since) } else { read() }
    }
    steps.append(step)
  }

  /// Reads the feed from the available response, or else from a new one. Call this if it turns out that the feed to
  /// renew is no longer saved.
  package func read() {
    var result: FeedResult?
    let saved = saved()
    let copy = PollCopy(saved, now: terms.now)
    self.copy = copy
    requests.observer = exchange
    if terms.encodes {
      let bytes = EncodedImages()
      self.bytes = bytes
      requests.onRead = { bytes.set($0.bytes) }
    }
    let known = lease.since.map { Just($0).eraseToAnyPublisher() } ?? saved.trusted
    let step = known.setFailureType(to: RemoteFeedError.self)
      .flatMap { [self] known in
        requestingAgain(since: known) { [self] in latest(since: $0, copy) }
      }
      .fallback(to: saved.load(), after: terms.feed.options.fallback, now: terms.now)
      .showingParts()
      .asResult()
      .sink { [self] _ in
        if let result { judge(result) }
      } receiveValue: {
        result = $0
      }
    steps.append(step)
  }

  /// The operators of ``FeedLoader``, except that the feed is saved when the lease is completed.
  private func latest(since known: FeedValidators, _ copy: PollCopy) -> some Publisher<FeedImages, RemoteFeedError> {
    let (requests, options) = (requests, terms.feed.options)
    return requests.images(at: requests.url, since: known, namedBy: moveIsPrivate, from: response.take())
      .followingPages(reportingTo: options.onFeedFound) { [exchange] feed in
        requests.images(at: feed, since: known, namedBy: exchange.isFromPrivateNetwork)
      }
      .tryMap { [bytes] fetched in
        guard bytes?.count ?? 0 <= FleetRules.documentBytes else {
          let what = "bytes in its images after relative URLs are resolved"
          throw RemoteFeedError.invalidData(.tooMuch(of: what, limit: FleetRules.documentBytes))
        }
        return fetched
      }
      .mapError { $0 as! RemoteFeedError }
      .caching(to: copy, since: known, reportingTo: options.report)
  }

  private func renew(_ known: FeedValidators) {
    let validators = known.updated(by: exchange.validators)
    let renewal = FeedRenewal(timestamp: lease.feed.asked ?? terms.now(), since: known, validators: validators)
    end(nil, .renewal(renewal), shown: validators)
  }

  private func judge(_ result: FeedResult) {
    let isCurrent = exchange.isUnchanged && (try? result.get().source.isRemote) == true
    end(result, copy?.change, shown: isCurrent ? lease.since?.updated(by: exchange.validators) : nil)
  }

  private func end(_ result: FeedResult?, _ change: PollCompletion.Change?, shown: FeedValidators?) {
    let now = terms.now()
    var report = PollReport(
      lease: lease, outcome: exchange.outcome(of: result, closed: terms.client.closed, now: now),
      wasConditional: exchange.wasConditional,
      interval: terms.feed.interval, gap: terms.gap, now: now, random: SplitMix64(seed: terms.seed))
    report.isPushed = terms.isPushed
    report.sentValidators = exchange.sentValidators
    report.isFromElsewhere = exchange.isFromElsewhere(than: lease.host)
    let completion = PollCompletion(
      of: lease, change, wasRead: result != nil, pausesHost: report.pausesHost, now: now
    ) { [report] in report.record(after: $0) }
    done?(Outcome(completion: completion, result: result, shown: shown, document: bytes?.get()))
  }
}

/// The images of a poll as bytes, created on the thread pool.
private final class EncodedImages: Sendable {
  private let bytes = Mutex<[UInt8]?>(nil)

  func set(_ bytes: [UInt8]) { self.bytes.withLock { $0 = bytes } }
  func get() -> [UInt8]? { bytes.withLock { $0 } }
  var count: Int { bytes.withLock { $0?.count ?? 0 } }
}
