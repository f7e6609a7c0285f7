import FeedStream
import Foundation

/// One poll of one feed: claim, ask, judge, record.
struct FeedPoll {
  enum Ending {
    /// Its host is closed until then.
    case postponed(FeedHealth, until: Date)
    /// Another process was quicker.
    case polledByAnother(FeedHealth)
    case ended(FeedHealth, HostHealth, FeedResult)
  }

  private enum ClaimAnswer {
    case verdict(PollVerdict)
    case storeFailed(FeedHealth)
  }

  private let feed: PolledAddress
  private let health: FeedHealth
  private let host: String
  private let poller: FeedPoller

  init(of feed: PolledAddress, _ health: FeedHealth, host: String, in poller: FeedPoller) {
    self.feed = feed
    self.health = health
    self.host = host
    self.poller = poller
  }

  /// Begins, and reports the ending unless the result is cancelled before.
  ///
  /// - Parameter seed: determines how due times are spread.
  func begin(using seed: UInt64, _ ended: @escaping (Ending) -> Void) -> any Cancellable {
    claimed(using: seed)
      .flatMap { answer -> AnyPublisher<Ending, Never> in
        switch answer {
        case .verdict(.hostIsClosed(let host)): Just(.postponed(health, until: host.opens)).eraseToAnyPublisher()
        case .verdict(.notDue(let health)): Just(.polledByAnother(health)).eraseToAnyPublisher()
        case .verdict(.granted(let health, let known)): asked(health, since: known, seed)
        case .storeFailed(let health): asked(health, since: nil, seed)
        }
      }
      .sink(receiveValue: ended)
  }

  private func claimed(using seed: UInt64) -> AnyPublisher<ClaimAnswer, Never> {
    let now = poller.cache.now()
    let wait = feed.interval ?? .seconds(health.adaptiveInterval(at: now))
    var wish = health
    wish.interval = feed.interval?.seconds
    let claim = PollClaim(
      feed: wish, host: host, now: now, lease: feed.options.timeout + .seconds(5), gap: poller.gap(for: feed),
      dueIfLost: now + wait.seconds)
    let (store, report) = (poller.store, poller.options.report)
    return poller.cache.worker.publisher { () throws(FeedStoreError) in try store.claim(claim) }
      .map(ClaimAnswer.verdict)
      .catch { error -> Just<ClaimAnswer> in
        // Without a store, this process' own memory has to do.
        report(error)
        var health = claim.feed
        health.asked = now
        return Just(.storeFailed(health))
      }
      .eraseToAnyPublisher()
  }

  private func asked(_ health: FeedHealth, since known: FeedValidators?, _ seed: UInt64) -> AnyPublisher<Ending, Never>
  {
    let witness = PollWitness(client: feed.client ?? poller.client)
    return FeedLoader(
      feed.address, asking: health.requestAddress, since: known, client: witness, cache: poller.cache,
      on: poller.scheduler, options: feed.options, onSaved: { witness.replacement = $0 }
    )
    .load().asResult()
    .flatMap { result in recorded(result, witness, health, seed) }
    .eraseToAnyPublisher()
  }

  private func recorded(
    _ result: FeedResult, _ witness: PollWitness, _ health: FeedHealth, _ seed: UInt64
  ) -> AnyPublisher<Ending, Never> {
    let now = poller.cache.now()
    let (facts, text) = witness.facts(of: result, now: now)
    var (health, host, random) = (health, HostHealth(name: self.host), PollRandom(seed: seed))
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
      due: due.date,
      rule: due.rule, reason: due.reason)
    let (store, record) = (poller.store, PollRecord(feed: health, host: host, decision: decision))
    return poller.cache.worker.publisher { () throws(FeedStoreError) in try store.record(record) }
      .explained(decision, of: feed.address, to: poller.options)
      .map { Ending.ended(record.feed, record.host, result) }
      .eraseToAnyPublisher()
  }
}

extension Publisher where Output == Void, Failure == FeedStoreError {
  /// Reports a decision when it is saved, or when it turns out that it cannot be.
  fileprivate func explained(
    _ decision: PollDecision, of address: URL, to options: FeedPoller.Options
  ) -> some Publisher<Void, Never> {
    self.catch { error in
      options.report(error)
      return Just(())
    }
    .handleEvents(receiveOutput: { options.onDecision(address, decision) })
  }
}
