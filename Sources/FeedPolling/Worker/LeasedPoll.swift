import FeedStream
import Foundation
import ImageFeed

/// One lease of a worker: its poll, from the grant until the engine has accepted the result.
///
/// A fleet polls exactly as one machine does; only the results are stored elsewhere.
final class LeasedPoll {
  let lease: WorkLease
  let client: GuardedClient
  private let lateness: Duration
  /// The worker's run, which releases this poll when the lease is over.
  private let run: WorkingRun
  private let seed: UInt64
  private var poll: FeedPoll?
  private var timer: (any Cancellable)?
  private var call: AnyCancellable?
  /// True when only the completion is left to send.
  private var isPolled = false
  private var attempts = 0
  private var trace: PollTrace?

  private var worker: FleetWorker { run.worker }
  private var options: FleetWorker.Options { run.worker.options }

  /// - Parameters:
  ///   - now: the time of the grant by the engine's clock.
  ///   - seed: determines how due times are spread.
  init(_ lease: WorkLease, grantedAt now: Date, in run: WorkingRun, seed: UInt64) {
    self.lease = lease
    self.run = run
    self.seed = seed
    lateness = .seconds(max(0, now.timeIntervalSince(lease.due)))
    trace = run.worker.options.trace(lease)
    let worker = run.worker
    client = GuardedClient(
      trace?.client(worker.client) ?? worker.client, on: worker.scheduler, host: lease.host,
      home: lease.record.health.requestAddress
    ) { host, duration in
      worker.queue.visit(host, with: lease, by: worker.name, for: duration)
        .catch { _ in Just(.busy(for: GuardedClient.pause)) }
        .eraseToAnyPublisher()
    } leave: { [weak run] in
      run?.endVisits($0, with: lease)
      // The lease ends with its poll.
      return false
    }
  }

  func cancel() {
    poll?.cancel()
    timer?.cancel()
    (poll, timer, call) = (nil, nil, nil)
    trace.take()?.end(nil)
  }

  /// Polls the feed, unless another host must be requested for it, or the request would be unconditional and the last
  /// such request was less than a day ago.
  func begin() {
    let saved = lease.record.health
    guard saved.requestAddress.pollingHost == lease.host else {
      // According to a copied record, the feed has moved: it waits in the queue of its new host, as due as before.
      var completion = WorkCompletion(postponing: lease, by: worker.name, saved)
      completion.due = lease.due
      return complete(completion)
    }
    let feed = PolledAddress(lease.address, every: options.interval, options: options.load)
    let now = run.clock.now
    var wish = saved
    let wait = feed.interval ?? .seconds(wish.adaptiveInterval(at: now))
    wish.interval = feed.interval?.seconds
    let claim = PollClaim(
      feed: wish, host: lease.host, now: now, lease: options.load.timeout, gap: options.gap,
      dueIfLost: now + wait.seconds)
    let validators = lease.version == nil ? FeedValidators() : lease.record.validators
    // The engine has granted the host, so there is nothing else to check about it.
    var host = HostHealth(name: lease.host)
    host.pace = lease.pace
    switch claim.decide(saved, host, validators).verdict {
    case .granted(let granted): send(feed, with: granted)
    case .notDue(let health): complete(WorkCompletion(postponing: lease, by: worker.name, health))
    case .hostIsClosed: run.release(self)
    }
  }

  private func send(_ feed: PolledAddress, with granted: PollLease) {
    setTimer()
    var terms = FeedPoll.Terms(
      feed, client: client, on: worker.scheduler, gap: options.gap, now: { [clock = run.clock] in clock.now },
      seed: seed, shown: granted.saved)
    terms.encodes = true
    let timestamp = lease.version?.date
    let poll = FeedPoll(granted, terms, saved: SavedFeed(granted, timestamp: timestamp)) {
      [unowned self] outcome in
      timer.take()?.cancel()
      call = nil
      isPolled = true
      run.endVisits(of: self)
      complete(WorkCompletion(outcome, of: lease, by: worker.name, gap: options.gap))
    }
    self.poll = poll
    poll.begin()
  }

  /// Extends the lease while the request runs.
  private func setTimer() {
    timer = worker.scheduler.once(after: .init(options.lease / 2)) { [weak self] in self?.extend() }
  }

  private func extend() {
    call = worker.queue.extend(lease, by: options.lease)
      .catch { [weak self] error in
        // The lease may still be valid; if not, the engine refuses the poll's result.
        self?.run.note(error)
        return Just(true)
      }
      .sink { [weak self] isOurs in
        guard let self, !isPolled, run.holds(self) else { return }
        // If another worker has the host now, this poll is dropped.
        if isOurs { setTimer() } else { run.release(self) }
      }
  }

  /// Sends the poll's result until the engine accepts it or reports that it is too late.
  private func complete(_ completion: WorkCompletion) {
    var completion = completion
    completion.trace = trace?.parent
    call = worker.queue.complete(completion).sink { [weak self, completion] ending in
      guard let self, case .failure(let error) = ending else { return }
      run.note(error)
      // The report may have cancelled the worker.
      guard run.holds(self) else { return }
      // An administrator may fix an error that isn't temporary, so the call is repeated a few times.
      guard error.isTemporary || attempts < 5 else { return run.release(self) }
      attempts += 1
      timer = worker.scheduler.once(after: .init(run.pause(after: attempts))) { [weak self, completion] in
        self?.complete(completion)
      }
    } receiveValue: { [weak self, completion] verdict in
      guard let self else { return }
      let report = FleetWorker.Report(
        address: lease.address, host: lease.host, outcome: completion.outcome, verdict: verdict, lateness: lateness,
        decision: completion.record.decisions.last)
      trace.take()?.end(report)
      run.deliver(report)
      run.release(self)
    }
  }
}

extension WorkCompletion {
  /// The completion of a lease whose feed was not requested.
  init(postponing lease: WorkLease, by worker: String, _ health: FeedHealth) {
    var record = lease.record
    record.health = health
    self.init(
      lease: lease, worker: worker, outcome: .postponed, record: record, due: health.due,
      host: health.requestAddress.pollingHost, gap: .zero)
  }

  /// The completion of a lease with the result of its poll.
  init(_ outcome: FeedPoll.Outcome, of lease: WorkLease, by worker: String, gap: Duration) {
    var record = lease.record
    var (version, document): (FeedVersion?, [UInt8]?)
    switch outcome.completion.change {
    case .replacement(let feed):
      version = FeedVersion(feed.timestamp)
      record.validators = feed.validators
      let images = outcome.document ?? feed.images.bytes
      let digest = FeedImages.digest(in: images)
      // Each record states whether the document came from a private network. Gateways must learn when the same images
      // come from elsewhere, because the requests that their URLs may cause depend on that.
      let (before, mark) = (record.isFromPrivateNetwork, feed.images.isFromPrivateNetwork)
      record.isFromPrivateNetwork = mark
      let isSame = lease.version != nil && record.digest != nil && record.digest == digest
      if !isSame || before != nil && before != mark {
        (record.imageCount, record.digest, document) = (feed.images.count, digest, images)
      }
    case .renewal(let renewal):
      version = FeedVersion(renewal.timestamp)
      record.validators = renewal.validators
    case nil: break
    }
    let poll = outcome.completion.record(version == nil ? nil : document == nil ? .renewed : .replaced)
    record.health = poll.feed
    record.note(poll.decision)
    self.init(
      lease: lease, worker: worker, outcome: document != nil ? .changed : version != nil ? .unchanged : .failed,
      record: record, version: version, document: document.map { Chunk($0) }, due: poll.feed.due,
      host: poll.feed.requestAddress.pollingHost, gap: max(gap, .seconds(poll.host.pace?.rest ?? 0)),
      pausedUntil: poll.host.pausedUntil, reason: poll.host.reason)
    pace = poll.host.pace
  }
}
