import FeedStream

/// One verification in progress.
final class VerificationRun<Output, Failure: Error> {
  let recorder: Recorder<Output, Failure>
  let time: VirtualTimeScheduler
  /// The values taken since `recordWith`, if it was called.
  private(set) var recorded: [Output]?
  private var keep: ((Output) -> Void)?

  init(_ recorder: Recorder<Output, Failure>, _ time: VirtualTimeScheduler) {
    self.recorder = recorder
    self.time = time
  }

  /// Records the values taken from now on.
  func record(_ keep: @escaping (Output) -> Void) {
    recorded = []
    self.keep = keep
  }

  /// Advances time until `isReached` returns true, or until no work is left.
  ///
  /// - Returns: a sentence if the work is endless; otherwise `nil`.
  func advance(_ site: CallSite, until isReached: () -> Bool) -> String? {
    var steps = 0
    while !isReached() {
      guard steps < time.workLimit else {
        return
          "nothing happened while time advanced \(steps) times, to \(time.now.nanoseconds.asTime), and work is "
          + "still pending: \(time.pending.first.map { "\($0)" } ?? "")."
      }
      switch time.step(site) {
      case .nothing: return nil
      case .moved: steps += 1
      case .endless(let finding): return finding + VirtualTimeScheduler.advice
      }
    }
    return nil
  }

  /// Advances time until there is an unread event.
  func advance(_ site: CallSite) -> String? { advance(site) { !recorder.unreadEvents.isEmpty } }

  /// Takes the next event; advances time until there is one.
  ///
  /// - Parameter what: the expected event, as part of a sentence.
  /// - Returns: the event, and a sentence to report if it is missing or not the expected one.
  func take(_ what: String, _ site: CallSite) -> (event: Timed<StreamEvent<Output, Failure>>?, trouble: String) {
    if let trouble = advance(site) { return (nil, "expected \(what), but \(trouble)") }
    guard let event = recorder.readNext() else { return (nil, "expected \(what), but \(recorder.silence).") }
    if case .value(let value) = event.content, recorded != nil {
      recorded?.append(value)
      keep?(value)
    }
    return (event, "expected \(what), but \(event.inWords()).")
  }
}

extension Timed {
  /// The event as part of a sentence: `at 5ms there was ‹a›`, `the stream finished at 5ms`.
  func inWords<Value, Failure>() -> String where Content == StreamEvent<Value, Failure> {
    let when = time.nanoseconds.asTime
    return switch content {
    case .value(let value): "at \(when) there was ‹\(value)›"
    case .completion(.finished): "the stream finished at \(when)"
    case .completion(.failure(let error)): "the stream failed at \(when) with \(error)"
    }
  }
}

extension Recorder {
  /// Explains why there is no event, if known.
  fileprivate var silence: String {
    if subscribedAt == nil { return "there was no subscription" }
    if let ending { return ending.inWords() + " already" }
    if cancelledAt != nil { return "the subscription had been cancelled" }
    if ledger.balance == .none { return "nothing happened: the subscriber has requested no more (\(ledger))" }
    return "nothing happened, and nothing is left to do at \(time.now.nanoseconds.asTime)"
  }
}
