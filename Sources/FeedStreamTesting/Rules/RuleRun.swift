import FeedStream

/// Runs an operator through one script and reports the broken rules.
struct RuleRun<P: Publisher> {
  typealias Build = (AnyPublisher<Int, MarbleFailure>, VirtualTimeScheduler) -> P

  struct Breach {
    let rule: StreamRule
    let message: String
    /// True if upstream's subscription lives on, as it does when other subscribers share upstream.
    var isExcusedBySharing = false
  }

  /// The result of one run.
  struct Result {
    var breaches: [Breach] = []
    var events: [Timed<StreamEvent<P.Output, P.Failure>>] = []
    var callbacks = 0
    var steps = 0
    var ledger = DemandLedger()
    /// The history of each subscription to upstream, as text; empty unless requested.
    var upstream: [String] = []
    /// The values that each subscription to upstream delivered; empty if unknown.
    var given: [[Int]] = []
    /// True if the run was stopped because it was too long.
    var isCutShort = false
    /// True if the subscriber still waited when no subscription to upstream was live and no work was left.
    var isStuck = false

    mutating func breach(_ rule: StreamRule, _ message: String, isExcusedBySharing: Bool = false) {
      breaches.append(Breach(rule: rule, message: message, isExcusedBySharing: isExcusedBySharing))
    }
  }

  /// The maximum number of steps by which time is advanced; a stream that needs more counts as endless.
  private var stepLimit: Int { traits.contains(.isEndless) ? 8 : 200 }

  /// The maximum number of pieces of work; more work than that counts as endless, because scripts have only a few
  /// values.
  private var workLimit: Int { 5000 }

  let build: Build
  let traits: StreamRules.Traits

  /// - Parameter describes: true if the result is shown to a user.
  func run(_ script: RuleScript, describes: Bool = false) -> Result {
    var result = Result()
    weak var leaked: Recorder<P.Output, P.Failure>?
    do {
      let time = VirtualTimeScheduler(order: script.order)
      time.workLimit = workLimit
      // Enter the scheduler as the domain, so that streams live in virtual time and their tasks run there.
      let outer = CurrentDomain.enter(time)
      defer { CurrentDomain.leave(outer) }
      let (upstream, records, second) = source(script, time)
      let recorder = Recorder<P.Output, P.Failure>(on: time, demand: script.demand.script)
      leaked = recorder
      let log = Log()
      prepare(recorder, script, log)
      let publisher = build(upstream, time)
      publisher.subscribe(recorder)
      drive(recorder, script, log, time)
      result = log.result
      result.events = recorder.events
      result.ledger = recorder.ledger
      if describes { result.upstream = records().map(\.description) }
      result.given = records().map { $0.deliveredPositions.filter { $0 < script.count } }
      judge(recorder, records(), second(), time, &result)
      withExtendedLifetime((publisher, upstream)) {}
      // End the stream, so that a live subscription doesn't look like a leak.
      recorder.onCallback = nil
      if !recorder.hasEnded, recorder.cancelledAt == nil {
        recorder.cancel()
        settle(time)
      }
    }
    if leaked != nil {
      result.breach(
        .everythingReleased, "the subscriber was still retained after the stream was over (\(retainedSection))")
    }
    return result
  }

  private final class Log {
    var result = Result()
  }

  /// Makes upstream, a function that reads the records of upstream's subscriptions, and a function that returns true if
  /// a second subscription was not cancelled.
  private func source(
    _ script: RuleScript, _ time: VirtualTimeScheduler
  ) -> (AnyPublisher<Int, MarbleFailure>, () -> [SubscriptionRecord], () -> Bool) {
    if case .misbehaving(let misbehavior) = script.source {
      let source = MisbehavingPublisher<Int, MarbleFailure>(misbehavior, values: script.values, on: time)
      return (
        AnyPublisher(source), { [] },
        { misbehavior == .subscribesTwice && source.cancellations.count > 1 && !source.cancellations[1] }
      )
    }
    var events = script.values.map {
      (time: StreamInstant.Stride.milliseconds($0 + 1), event: StreamEvent<Int, MarbleFailure>.value($0))
    }
    let end: StreamEvent<Int, MarbleFailure> = .completion(script.fails ? .failure(MarbleFailure()) : .finished)
    events.append((script.count == 0 ? 0 : .milliseconds(script.count + 1), end))
    let kind: ScriptedPublisher<Int, MarbleFailure>.Kind =
      switch script.source {
      case .synchronous: .synchronous
      case .scheduled: .cold
      case .subject, .misbehaving: .hot
      }
    let source = ScriptedPublisher(kind, events, on: time)
    return (AnyPublisher(source), { source.subscriptions }, { false })
  }

  private func prepare(_ recorder: Recorder<P.Output, P.Failure>, _ script: RuleScript, _ log: Log) {
    recorder.answersByRequest = script.demand.byRequest
    // Most subscribers leave the subscription alone after its completion, so an operator must not rely on a cancellation.
    recorder.actsAfterCompletion = !script.demand.isUnlimited
    recorder.onViolation = { rule, message in
      // An operator needn't hide that its source exceeds the demand. It only has to survive that.
      if rule == StreamRule.neverMoreThanAsked.number, script.source == .misbehaving(.emitsBeyondDemand) { return }
      log.result.breach(StreamRule(rawValue: rule)!, message)
    }
    recorder.onCallback = { [unowned recorder] in
      if script.cancellation == .within(callback: log.result.callbacks) { recorder.cancel() }
      log.result.callbacks += 1
    }
  }

  /// Advances time until no work is left, and cancels at the point that the script sets.
  private func drive(
    _ recorder: Recorder<P.Output, P.Failure>, _ script: RuleScript, _ log: Log, _ time: VirtualTimeScheduler
  ) {
    var watch = LeftoverWatch()
    defer { if let finding = watch.finding { log.result.breach(.everythingReleased, finding) } }
    func move() {
      while log.result.steps < stepLimit {
        if script.cancellation == .after(steps: log.result.steps) { recorder.cancel() }
        watch.look(at: time, isOver: recorder.isOver)
        switch time.step(recorder.site) {
        case .nothing: return
        case .moved: log.result.steps += 1
        case .endless(let finding):
          log.result.breach(.nothingLostInSilence, "a later event never arrives: \(finding)")
          log.result.steps = stepLimit
        }
      }
      log.result.isCutShort = true
    }
    move()
    guard script.demand.late > .none, recorder.isLive else { return }
    recorder.request(script.demand.late)
    move()
  }

  private func settle(_ time: VirtualTimeScheduler) {
    for _ in 0..<stepLimit { guard case .moved = time.step(CallSite()) else { return } }
  }

  /// True if upstream continued after the cancellation and ended later.
  private func wentOn(_ records: [SubscriptionRecord], after cancelledAt: StreamInstant?) -> Bool {
    guard let cancelledAt else { return false }
    return records.contains { ($0.cancelledAt ?? $0.endedAt ?? cancelledAt) > cancelledAt }
  }

  private func judge(
    _ recorder: Recorder<P.Output, P.Failure>, _ records: [SubscriptionRecord], _ second: Bool,
    _ time: VirtualTimeScheduler, _ result: inout Result
  ) {
    if recorder.subscribedAt == nil { result.breach(.oneSubscription, "the subscriber received no subscription") }
    if second { result.breach(.oneSubscription, "the second subscription was not cancelled") }
    if records.contains(where: { $0.requests.contains { $0.content == .none } }) {
      result.breach(.demandAddsUp, "upstream received request(.none)")
    }
    let isCancelled = recorder.cancelledAt != nil
    guard recorder.hasEnded || isCancelled else {
      result.isStuck =
        !result.isCutShort && !records.contains(where: \.isLive) && recorder.subscribedAt != nil
        && time.agenda.nextInstant == nil
      return
    }
    let isOnlyCancelled = isCancelled && !recorder.hasEnded
    let how = isOnlyCancelled ? "the subscriber had cancelled" : "the completion"
    if records.contains(where: \.isLive) || wentOn(records, after: recorder.cancelledAt) {
      result.breach(
        isCancelled ? .cancelIsFinal : .everythingReleased, "upstream continued after \(how)",
        isExcusedBySharing: true)
    } else if records.contains(where: { $0.subscription != nil }) {
      result.breach(
        .everythingReleased, "the subscription to upstream was still retained after \(how) (\(retainedSection))",
        isExcusedBySharing: isOnlyCancelled)
    }
  }
}
