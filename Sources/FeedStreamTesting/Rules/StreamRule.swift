/// The rules of a stream, numbered as in `CONTRACT.md`.
public enum StreamRule: Int, CaseIterable, Hashable, Sendable {
  case oneThread = 1
  case oneSubscription
  case demandAddsUp
  case neverMoreThanAsked
  case oneEnding
  case cancelIsFinal
  case orderIsKept
  case nothingLostInSilence
  case everythingReleased
  case flatStack

  /// The rule's number.
  public var number: Int { rawValue }

  /// The rule in a few words.
  public var title: String {
    switch self {
    case .oneThread: "A stream lives on one thread"
    case .oneSubscription: "One subscription"
    case .demandAddsUp: "Demand adds up"
    case .neverMoreThanAsked: "Never more than requested"
    case .oneEnding: "One completion"
    case .cancelIsFinal: "Cancelling is final"
    case .orderIsKept: "Order is kept"
    case .nothingLostInSilence: "Nothing is dropped silently"
    case .everythingReleased: "Everything is released"
    case .flatStack: "The stack stays flat"
    }
  }

  /// The rule in full.
  public var text: String {
    switch self {
    case .oneThread:
      "Subscribing, requesting, delivering and cancelling happen on the thread of the stream's loop."
    case .oneSubscription:
      "A subscriber receives exactly one subscription, before anything else; an operator keeps the first one and "
        + "cancels every other one."
    case .demandAddsUp:
      "Requests, and the demand returned for values, add up and saturate at unlimited. A request is for at least one "
        + "value."
    case .neverMoreThanAsked: "No more values are delivered than were requested."
    case .oneEnding: "There is at most one completion, finished or failed, and nothing after it."
    case .cancelIsFinal:
      "After cancel() has returned, nothing is delivered: no value and no completion, not even one already scheduled. "
        + "Cancelling reaches upstream. Cancelling again, or requesting more, has no effect."
    case .orderIsKept:
      "Values are delivered in the order in which the operator produces them, even when requests, values or "
        + "cancellations arrive during a delivery."
    case .nothingLostInSilence:
      "A value that was produced and requested is delivered, however late the request; an operator that drops values "
        + "documents this."
    case .everythingReleased:
      "After the completion, or cancellation, the operator releases its upstream and the values that it holds, and "
        + "schedules nothing more. A subscriber releases its subscription on completion."
    case .flatStack: "Values requested one at a time do not deepen the stack."
    }
  }

  /// The effect of breaking the rule.
  public var violation: String {
    switch self {
    case .oneThread:
      "Debug builds trap; release builds trap only where a subject, a loop or another scheduler is used. In the Swift 6 language mode, sending a stream to another thread does not compile."
    case .oneSubscription:
      "The second subscription is cancelled; a value that arrives before the first subscription is ignored, is passed on, or causes a trap."
    case .demandAddsUp:
      "A request for zero values traps with a message that names the operator; a few sources and operators ignore it."
    case .neverMoreThanAsked:
      "Some operators that count demand trap; the others pass the value on, hold it, or drop and report it."
    case .oneEnding:
      "Most operators ignore events after the completion; those without a subscription of their own, such as `map`, pass them on."
    case .cancelIsFinal:
      "Most operators ignore events that a publisher delivers despite cancel(); those without a subscription of their own pass them on."
    case .orderIsKept, .nothingLostInSilence, .everythingReleased, .flatStack:
      "The operator has a defect; the conformance kit finds it."
    }
  }

  /// The rules as a table in Markdown, as in `CONTRACT.md`.
  public static var table: String {
    (["| # | Rule | In full | When it is broken |", "| --- | --- | --- | --- |"]
      + allCases.map { "| \($0.number) | \($0.title) | \($0.text) | \($0.violation) |" }).joined(separator: "\n")
  }
}
