import FeedStream

/// Compares the events of one run with the expected events.
struct DueJudge<Output, Failure: Error> {
  let due: Due<Output>
  let traits: StreamRules.Traits
  let script: RuleScript
  /// True if the run was stopped because it was too long.
  let isCutShort: Bool
  let values: [Output]
  let ending: Subscribers.Completion<Failure>?

  var breach: (rule: StreamRule, message: String)? {
    surplus.map { (.orderIsKept, $0) } ?? wrongEnding.map { (.oneEnding, $0) }
      ?? loss.map { (.nothingLostInSilence, $0) }
  }

  /// True if the values are compared with the expectation.
  private var isJudged: Bool { script.demand.isUnlimited || !traits.contains(.dependsOnDemand) }
  /// True if the operator may leave out values.
  private var maySkip: Bool { !script.demand.isUnlimited && traits.contains(.dropsUnasked) }

  private var surplus: String? {
    guard isJudged else { return nil }
    let accounted = due.accounted(for: values, skipping: maySkip)
    guard accounted < values.count else { return nil }
    let before = accounted == 0 ? "first" : "after \(values.prefix(accounted))"
    let advice = due.lanes.joined().contains { looksSame($0, values[accounted]) } ? ".\n\(lookalikeAdvice)" : ""
    return "\(values[accounted]) was delivered \(before), but \(due.inWords) was due\(advice)"
  }

  private var endingDue: Given.Ending { due.ending ?? (script.fails ? .fails : .finished) }

  private var wrongEnding: String? {
    guard isJudged else { return nil }
    switch ending {
    case .finished? where endingDue == .fails: return "the stream finished, but a failure was due"
    case .failure(let error)? where endingDue == .finished:
      return "the stream failed with \(error), but it should have finished"
    default: return nil
    }
  }

  private var loss: String? {
    guard script.cancellation == .never, !isCutShort else { return nil }
    if ending == nil {
      return isEverythingAsked ? "the completion was not delivered, although every value was requested" : nil
    }
    guard isJudged, !maySkip, values.count < due.count else { return nil }
    if endingDue != .finished, due.mayBeCutShort || traits.contains(.failsAtOnce) { return nil }
    return "the stream completed after \(values), but \(due.inWords) was due"
  }

  /// True if the demand covers all expected values and one more, so that a completion doesn't wait for demand.
  private var isEverythingAsked: Bool {
    if traits.contains(.spendsDemand) { return script.demand.isUnlimited }
    return script.demand.isComplete || due.count < 5
  }
}
