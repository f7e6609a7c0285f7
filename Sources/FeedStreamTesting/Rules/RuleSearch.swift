import FeedStream

/// Searches for the shortest script that breaks a rule.
struct RuleSearch<P: Publisher> {
  let run: RuleRun<P>
  let traits: StreamRules.Traits
  let expects: ((Given) -> Due<P.Output>)?
  private(set) var summary = StreamRules.Summary()

  private static var overtaking: String { "the failure came before values that waited for demand" }

  init(run: RuleRun<P>, traits: StreamRules.Traits, expects: ((Given) -> Due<P.Output>)?) {
    self.run = run
    self.traits = traits
    self.expects = expects
  }

  /// - Returns: the message, beginning after the operator's name.
  mutating func shortestBreach(survives: Set<Misbehavior>) -> String? {
    for count in 0...4 {
      let scripts = RuleScript.plain(count: count)
      var runs: [(script: RuleScript, result: RuleRun<P>.Result, reference: RuleRun<P>.Result)] = []
      for script in scripts {
        let result = run(script)
        let reference = script.demand.script.initial == .unlimited ? result : runs.last!.reference
        if let found = breach(in: result, of: script, reference) { return found }
        runs.append((script, result, reference))
      }
      // Run scripts with cancellation last, because scripts without cancellation count as shorter.
      for run in runs {
        if let found = cancelledBreach(of: run.script, like: run.result, run.reference) { return found }
      }
      if let found = shuffledBreach(count: count) { return found }
    }
    for script in RuleScript.misbehaving(survives) {
      let result = run(script)
      if !traits.contains(.passesStrays), let breach = result.breaches.first { return report(breach, script) }
    }
    let order =
      traits.isDisjoint(with: [.dependsOnDemand, .isEndless, .isShort])
      ? expects.flatMap { OrderProbe(build: run.build).breach(of: $0) } : nil
    guard let breach = order ?? (traits.contains(.isShort) ? nil : StackProbe(build: run.build).breach) else {
      return nil
    }
    summary.broken = breach.rule
    return "breaks rule \(breach.rule.number), \(breach.rule.title.lowercased()): \(breach.message)."
  }

  /// Runs one script for each seed, which determines the whole script and the order of simultaneous events. Then runs
  /// the script again with a cancellation in one callback, and again with a cancellation after one step.
  ///
  /// - Returns: the message, beginning after the operator's name.
  mutating func breach(seeds: Range<UInt64>) -> String? {
    for seed in seeds {
      var script = RuleScript.seeded(seed)
      let plain = run(script)
      if let found = plain.breaches.first(where: isJudged) { return "\(report(found, script))\nThe seed: \(seed)." }
      for point in [
        RuleScript.Cancellation.within(callback: Int(seed % UInt64(Swift.max(plain.callbacks, 1)))),
        .after(steps: Int(seed % UInt64(Swift.max(plain.steps, 1)))),
      ] {
        script.cancellation = point
        if let found = run(script).breaches.first(where: isJudged) {
          return "\(report(found, script))\nThe seed: \(seed)."
        }
      }
    }
    return nil
  }

  /// Runs a script again for each point of its plain run, and cancels there.
  private mutating func cancelledBreach(
    of script: RuleScript, like plain: RuleRun<P>.Result, _ reference: RuleRun<P>.Result
  ) -> String? {
    let points =
      (0..<plain.callbacks).map { RuleScript.Cancellation.within(callback: $0) }
      + (0..<Swift.min(plain.steps, 6)).map { .after(steps: $0) }
    for point in points {
      var cancelled = script
      cancelled.cancellation = point
      if let found = breach(in: run(cancelled), of: cancelled, reference) { return found }
    }
    return nil
  }

  /// Runs scripts that shuffle simultaneous events. The values are not compared, because they may depend on the
  /// order.
  private mutating func shuffledBreach(count: Int) -> String? {
    for script in RuleScript.shuffled(count: count) {
      let plain = run(script)
      if let found = plain.breaches.first(where: isJudged) { return report(found, script) }
      guard script.demand.script.initial == .unlimited else { continue }
      for point in 0..<plain.callbacks {
        var cancelled = script
        cancelled.cancellation = .within(callback: point)
        let result = run(cancelled)
        if let found = result.breaches.first(where: isJudged) { return report(found, cancelled) }
      }
    }
    return nil
  }

  private mutating func breach(
    in result: RuleRun<P>.Result, of script: RuleScript, _ reference: RuleRun<P>.Result
  ) -> String? {
    let breach =
      result.breaches.first(where: isJudged) ?? deviation(of: result, script) ?? silence(in: result, script)
      ?? difference(of: result, from: reference, script)
    return breach.map { report($0, script) }
  }

  private mutating func run(_ script: RuleScript) -> RuleRun<P>.Result {
    summary.scripts += 1
    return run.run(script)
  }

  private func isJudged(_ breach: RuleRun<P>.Breach) -> Bool {
    !(traits.contains(.sharesUpstream) && breach.isExcusedBySharing)
  }

  /// Describes how a run's events differ from the expectation.
  private func deviation(of result: RuleRun<P>.Result, _ script: RuleScript) -> RuleRun<P>.Breach? {
    guard let expects else { return nil }
    return DueJudge(
      due: expects(given(result, script)), traits: traits, script: script, isCutShort: result.isCutShort,
      values: result.events.compactMap { if case .value(let value) = $0.content { value } else { nil } },
      ending: result.events.last.flatMap { event in
        if case .completion(let completion) = event.content { completion } else { nil }
      }
    ).breach.map { RuleRun<P>.Breach(rule: $0.rule, message: $0.message) }
  }

  /// The values and the completion that upstream sent. A subject sends only values that were requested in time; other
  /// sources eventually send everything.
  private func given(_ result: RuleRun<P>.Result, _ script: RuleScript) -> Given {
    Given(
      offered: script.values, runs: script.source == .subject ? result.given : nil, fails: script.fails,
      isTimed: script.source != .synchronous)
  }

  /// Finds a completion that was not delivered, although every value was requested and nothing more can happen. Used
  /// for an operator without an expectation.
  private func silence(in result: RuleRun<P>.Result, _ script: RuleScript) -> RuleRun<P>.Breach? {
    guard expects == nil, result.isStuck, script.demand.isUnlimited, script.source != .subject,
      !traits.contains(.isEndless)
    else { return nil }
    return RuleRun<P>.Breach(
      rule: .nothingLostInSilence,
      message: "no subscription to upstream is live and no work is left, but the operator delivered no completion "
        + "(if it never completes, as documented, use traits: .isEndless)")
  }

  /// Describes how a run's events differ from those of the run with unlimited demand. With less demand, there may only
  /// be fewer or later events. Used for an operator without an expectation.
  private func difference(
    of result: RuleRun<P>.Result, from reference: RuleRun<P>.Result, _ script: RuleScript
  ) -> RuleRun<P>.Breach? {
    // Skip subjects, which drop values that were not requested.
    guard expects == nil, !traits.contains(.dependsOnDemand), script.source != .subject else { return nil }
    guard !traits.contains(.failsAtOnce) || !script.fails else { return nil }
    let expected = reference.events.map(\.content)
    let actual = result.events.map(\.content)
    for (index, event) in actual.enumerated() {
      guard index < expected.count else {
        return RuleRun<P>.Breach(
          rule: .orderIsKept, message: "\(event) was delivered, but it isn't delivered with unlimited demand")
      }
      // Each run makes its own objects, so values that differ only in these count as the same.
      if !isSame(expected[index], event), !looksSame(expected[index], event) {
        if case .completion(.failure) = event, !expected[index].isCompletion {
          return RuleRun<P>.Breach(rule: .orderIsKept, message: Self.overtaking)
        }
        return RuleRun<P>.Breach(
          rule: .orderIsKept,
          message: "\(event) was delivered, but \(expected[index]) is delivered with unlimited demand")
      }
    }
    guard actual.count < expected.count, script.cancellation == .never,
      script.demand.isComplete || expected.filter({ !$0.isCompletion }).count <= 5
    else { return nil }
    return RuleRun<P>.Breach(
      rule: .nothingLostInSilence,
      message: "\(expected[actual.count]) was not delivered, although every value was requested")
  }

  private mutating func report(_ breach: RuleRun<P>.Breach, _ script: RuleScript) -> String {
    summary.broken = breach.rule
    let result = run.run(script, describes: true)
    var advice = ""
    if breach.message == Self.overtaking { advice = "\nIf that is intended and documented, use traits: .failsAtOnce" }
    if case .misbehaving = script.source {
      advice = """
        \nThis source breaks the rules itself, and the operator should protect its subscriber from that. For an operator without \
        state, such as map, use traits: .passesStrays; survives: lists the sources to try.
        """
    }
    let key = MarbleKey<P.Output, P.Failure>(values: [:], failure: nil)
    let start = StreamInstant(nanoseconds: 0)
    let lane = MarbleText.Lane(
      title: "received", events: result.events.map { (start.distance(to: $0.time), key.token(for: $0.content)) })
    return """
      breaks rule \(breach.rule.number), \(breach.rule.title.lowercased()): \(breach.message).
      The shortest failing script: \(script).
      \(lane.events.isEmpty ? "received  nothing" : MarbleText([lane]).draw())
      downstream: \(result.ledger)
      upstream:   \(result.upstream.isEmpty ? "-" : result.upstream.joined(separator: "\n            "))\(advice)
      """
  }
}
