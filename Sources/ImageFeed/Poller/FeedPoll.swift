import FeedStream
import Foundation

/// One poll of one feed: claim, ask, judge, record.
///
/// Ten thousand of these may be under way in an hour, most of which find nothing new: so it takes its steps one by one
/// and builds the chain of a load only for what has to be read.
package final class FeedPoll: Cancellable {
  package indirect enum Ending {
    /// Its host is closed until then.
    case postponed(FeedHealth, until: Date)
    /// Another process was quicker.
    case polledByAnother(FeedHealth)
    /// Without a result, nothing has changed of what was shown. What is saved and shown has these validators.
    case ended(FeedHealth, HostHealth, FeedResult?, shown: FeedValidators?)
  }

  private let feed: PolledAddress
  private let host: String
  /// The validators of what was shown last, if that is still to be seen.
  private let shown: FeedValidators?
  private let poller: FeedPoller
  private let desk: PollDesk
  private var random: PollRandom
  private let witness: PollWitness
  /// As it was before, and as it is noted now that the request is sent.
  private let before: FeedHealth
  private var health: FeedHealth
  private var ended: ((Ending) -> Void)?
  private var steps: [any Cancellable] = []

  /// - Parameters:
  ///   - seed: determines how due times are spread.
  ///   - ended: is given the ending, unless this is cancelled before.
  package init(
    of feed: PolledAddress, _ health: FeedHealth, host: String, shown: FeedValidators?, in poller: FeedPoller,
    _ desk: PollDesk, seed: UInt64, ended: @escaping (Ending) -> Void
  ) {
    self.feed = feed
    self.before = health
    self.health = health
    self.host = host
    self.shown = shown
    self.poller = poller
    self.desk = desk
    self.ended = ended
    random = PollRandom(seed: seed)
    witness = PollWitness(client: feed.client ?? poller.client)
  }

  package func cancel() {
    ended = nil
    for step in steps { step.cancel() }
    steps = []
  }

  private func end(_ ending: Ending) {
    let ended = self.ended.take()
    steps = []
    ended?(ending)
  }

  // MARK: Claim

  package func begin() {
    let now = poller.cache.now()
    let wait = feed.interval ?? .seconds(health.adaptiveInterval(at: now))
    var wish = health
    wish.interval = feed.interval?.seconds
    let claim = PollClaim(
      feed: wish, host: host, now: now, lease: feed.options.timeout + .seconds(5), gap: poller.gap(for: feed),
      dueIfLost: now + wait.seconds)
    steps.append(desk.claim(claim) { [self] in claimed(claim, $0) })
  }

  private func claimed(_ claim: PollClaim, _ verdict: Result<PollVerdict, FeedStoreError>) {
    switch verdict {
    case .success(.hostIsClosed(let host)): end(.postponed(before, until: host.opens))
    case .success(.notDue(let health)): end(.polledByAnother(health))
    case .success(.granted(let health, let known)):
      self.health = health
      ask(since: known)
    case .failure(let error):
      // Without a store, this process' own memory has to do.
      poller.options.report(error)
      health = claim.feed
      health.asked = claim.now
      load(since: nil)
    }
  }

  // MARK: Ask

  private func ask(since known: FeedValidators) {
    // Only what this process has shown need not be read once more when nothing has changed.
    guard known == shown, let request = loader(since: known).conditionalRequest(since: known) else {
      return load(since: known)
    }
    steps.append(
      witness.ask(request) { [self] isUnchanged in isUnchanged ? renew(since: known) : load(since: known) })
  }

  private func load(since known: FeedValidators?) {
    var result: FeedResult?
    let subscription = loader(since: known).load().asResult().sink { [self] _ in
      // By now what has come is saved, and known to be new or not.
      if let result { judge(result, since: known) }
    } receiveValue: {
      result = $0
    }
    steps.append(subscription)
  }

  private func loader(since known: FeedValidators?) -> FeedLoader {
    FeedLoader(
      feed.address, asking: health.requestAddress, since: known, client: witness, cache: poller.cache,
      on: poller.scheduler, options: feed.options, onSaved: { [witness] in witness.replacement = $0 })
  }

  // MARK: Judge and record

  /// Notes that nothing has changed, and renews the saved feed with the same transaction, without reading it.
  private func renew(since known: FeedValidators) {
    var record = record(of: nil)
    let validators = known.updated(by: witness.validators)
    record.renewal = FeedRenewal(timestamp: health.asked ?? record.decision.time, since: known, validators: validators)
    note(record, nil, shown: validators, orElse: { [self] in load(since: known) })
  }

  private func judge(_ result: FeedResult, since known: FeedValidators?) {
    let isCurrent = witness.isUnchanged && (try? result.get().source.isRemote) == true
    note(record(of: result), result, shown: isCurrent ? known?.updated(by: witness.validators) : nil)
  }

  /// - Parameter otherwise: what to do when something else is saved by now than what was to be renewed.
  private func note(
    _ record: PollRecord, _ result: FeedResult?, shown: FeedValidators?, orElse otherwise: @escaping () -> Void = {}
  ) {
    let noted = desk.record(record, now: poller.cache.now()) { [self] answer in
      switch answer {
      case .success(false): return otherwise()
      case .success(true): break
      case .failure(let error): poller.options.report(error)
      }
      poller.options.onDecision(feed.address, record.decision)
      end(.ended(record.feed, record.host, result, shown: shown))
    }
    steps.append(noted)
  }

  /// The record that follows from a result; from none when nothing has changed.
  private func record(of result: FeedResult?) -> PollRecord {
    let now = poller.cache.now()
    let (facts, text) = witness.facts(of: result, now: now)
    var (health, host) = (health, HostHealth(name: host))
    if facts.outcome == .noAnswer(wasAsked: false) {
      // A request that did not reach the server was none.
      health.askedForAll = before.askedForAll
    } else if !witness.wasConditional {
      health.askedForAll = health.asked
    }
    health.note(facts, text, now: now)
    let due = Schedule(every: feed.interval).due(after: facts, health, now: now, using: &random)
    health.interval = feed.interval?.seconds
    (health.due, health.notBefore, health.rule, health.reason) = (due.date, due.notBefore, due.rule, due.reason)
    host.next = now + poller.gap(for: feed).seconds
    if facts.pauses {
      host.pausedUntil = now + facts.pause.seconds
      host.reason = due.reason
    }
    let decision = PollDecision(
      time: health.asked ?? now, request: witness.wasConditional ? "changes" : "all of it", outcome: text,
      due: due.date, rule: due.rule, reason: due.reason)
    return PollRecord(feed: health, host: host, decision: decision)
  }
}
