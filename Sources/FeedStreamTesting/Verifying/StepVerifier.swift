import FeedStream

/// Checks a stream step by step, in virtual time.
///
///     results.verify(on: time)
///       .then { search.send("swift") }
///       .expectNoEvent(for: 0.3)
///       .expectNext("swift")
///       .thenCancel()
///       .verify()
///
/// Nothing happens before ``verify()``: it subscribes and takes the steps in order. A step that expects an event moves time
/// on until there is one. The first step that is not met fails the test on the step's own line and ends the verification.
/// At the end, events nobody expected and a subscription that is still live fail the test too.
public struct StepVerifier<Output, Failure: Error> {
  private enum Outcome {
    case met
    case unmet(String)
  }
  private typealias Step = (site: CallSite, run: (Recorder<Output, Failure>) -> Outcome)

  private let time: VirtualTimeScheduler
  private let demand: DemandScript
  private let subscribe: (Recorder<Output, Failure>) -> Void
  private let site: CallSite
  private var steps: [Step] = []

  init<P: Publisher>(
    _ publisher: P, _ time: VirtualTimeScheduler, _ demand: DemandScript, _ site: CallSite
  ) where P.Output == Output, P.Failure == Failure {
    self.time = time
    self.demand = demand
    self.site = site
    subscribe = { publisher.subscribe($0) }
  }

  private func adding(_ site: CallSite, _ run: @escaping (Recorder<Output, Failure>) -> Outcome) -> Self {
    var copy = self
    copy.steps.append((site, run))
    return copy
  }

  /// Takes the steps, in order.
  public func verify() {
    let recorder = Recorder<Output, Failure>(
      on: time, demand: demand, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
    defer { recorder.cancel() }
    subscribe(recorder)
    for step in steps {
      guard case .unmet(let message) = step.run(recorder) else { continue }
      _ = recorder.events
      return step.site.fail(message + time.seedNote)
    }
    let last = steps.last?.site ?? site
    if let leftover = recorder.leftover { last.fail("After the last step: \(leftover)\(time.seedNote)") }
    _ = recorder.events
  }

  // MARK: Expectations

  /// The next events are these values.
  public func expectNext(
    _ values: Output..., fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Self where Output: Equatable {
    var verifier = self
    if values.isEmpty {
      verifier = adding(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) { _ in
        .unmet("expectNext() expects nothing; say which values come next, or expectNoEvent(for:).")
      }
    }
    for value in values {
      verifier = verifier.expectNext(
        "the value ‹\(value)›", fileID: fileID, filePath: filePath, line: line, column: column
      ) { $0 == value }
    }
    return verifier
  }

  /// The next event is a value that `isExpected` accepts.
  ///
  /// - Parameter what: names the value in the message.
  public func expectNext(
    _ what: String = "a value that the closure accepts", fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    where isExpected: @escaping (Output) -> Bool
  ) -> Self {
    expect(what, CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
      if case .value(let value) = $0 { isExpected(value) } else { false }
    }
  }

  /// The stream finishes next.
  public func expectFinished(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Self {
    expect("the stream to finish", CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
      if case .completion(.finished) = $0 { true } else { false }
    }
  }

  /// The stream fails next, with an error that `isExpected` accepts.
  public func expectFailure(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    where isExpected: @escaping (Failure) -> Bool = { _ in true }
  ) -> Self {
    expect("the stream to fail", CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
      if case .completion(.failure(let error)) = $0 { isExpected(error) } else { false }
    }
  }

  /// Time passes and nothing happens.
  public func expectNoEvent(
    for interval: StreamInstant.Stride, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> Self {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(site) { [time] recorder in
      time.advance(
        by: interval, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
      guard let event = recorder.unreadEvents.first else { return .met }
      return .unmet(
        "Expected nothing for \(interval.nanoseconds.asTime), but \(event.inWords()).")
    }
  }

  private func expect(
    _ what: String, _ site: CallSite, where isExpected: @escaping (StreamEvent<Output, Failure>) -> Bool
  ) -> Self {
    adding(site) { [time] recorder in
      var steps = 0
      moving: while recorder.unreadEvents.isEmpty {
        guard steps < time.workLimit else {
          return .unmet(
            "Expected \(what), but nothing happened until \(time.now.nanoseconds.asTime), in which time was moved "
              + "\(steps) times, and there is more to do: \(time.pending.first.map { "\($0)" } ?? "").")
        }
        switch time.step(site) {
        case .nothing: break moving
        case .moved: steps += 1
        case .endless(let finding): return .unmet("Expected \(what), but \(finding)\(VirtualTimeScheduler.advice)")
        }
      }
      guard let event = recorder.readNext() else {
        return .unmet("Expected \(what), but \(recorder.silence).")
      }
      return isExpected(event.content)
        ? .met
        : .unmet("Expected \(what), but \(event.inWords()).")
    }
  }

  // MARK: Actions

  /// Asks for more values.
  public func thenRequest(
    _ count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Self {
    adding(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
      guard count > 0 else { return .unmet("thenRequest(\(count)) asks for nothing; ask for one value or more.") }
      $0.request(.max(count))
      return .met
    }
  }

  /// Moves time on, whatever happens then.
  public func thenAdvance(
    by interval: StreamInstant.Stride, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> Self {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(site) { [time] _ in
      time.advance(
        by: interval, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
      return .met
    }
  }

  /// Does something: sends a value, changes what is behind the stream.
  public func then(_ action: @escaping () -> Void) -> Self {
    adding(site) { _ in
      action()
      return .met
    }
  }

  /// Cancels the subscription.
  public func thenCancel() -> Self {
    adding(site) {
      $0.cancel()
      return .met
    }
  }
}

extension Timed {
  /// As a sentence has it: `at 5ms there was ‹a›`, `the stream finished at 5ms`.
  fileprivate func inWords<Value, Failure>() -> String where Content == StreamEvent<Value, Failure> {
    let when = time.nanoseconds.asTime
    return switch content {
    case .value(let value): "at \(when) there was ‹\(value)›"
    case .completion(.finished): "the stream finished at \(when)"
    case .completion(.failure(let error)): "the stream failed at \(when) with \(error)"
    }
  }
}

extension Recorder {
  /// Why there is no event, as far as can be told.
  fileprivate var silence: String {
    if subscribedAt == nil { return "there was no subscription" }
    if let ending { return ending.inWords() + " already" }
    if cancelledAt != nil { return "the subscription had been cancelled" }
    if ledger.balance == .none { return "nothing happened: the subscriber has asked for no more (\(ledger))" }
    return "nothing happened, and nothing is left to do at \(time.now.nanoseconds.asTime)"
  }
}

extension Publisher {
  /// Begins to verify this publisher step by step; see ``StepVerifier``.
  public func verify(
    on time: VirtualTimeScheduler = VirtualTimeScheduler(), demand: DemandScript = .unlimited,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> StepVerifier<Output, Failure> {
    StepVerifier(
      self, time, demand, CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}
