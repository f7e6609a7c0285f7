import FeedStream

/// Checks a stream step by step, in virtual time.
///
///     results.verify(on: time)
///       .then { search.send("swift") }
///       .expectNoEvent(for: 0.3)
///       .expectNext("swift").as("the answer")
///       .thenCancel()
///       .verify()
///
/// Nothing happens before ``verify()``, which subscribes and executes the steps in order. A step that expects an event
/// advances time until there is one. The first step that fails ends the verification and fails the test on the step's
/// own line, with its number:
///
/// ```text
/// Step 3 of 4 (“the answer”): expected the value ‹swift›, but at 300ms there was ‹swif›.
/// ```
///
/// At the end, unread events, a subscription that is still live, and a missing subscription fail the test, too. The
/// method names follow Reactor's `StepVerifier`.
public struct StepVerifier<Output, Failure: Error> {
  typealias Run = VerificationRun<Output, Failure>

  /// One step: a call to one of the methods below.
  private struct Step {
    let site: CallSite
    /// The name given by ``StepVerifier/as(_:)``.
    var name: String?
    /// Executes the step.
    ///
    /// Returns a sentence that describes the difference from the expectation, beginning in lower case; `nil` if there
    /// is none.
    let run: (Run) -> String?
  }

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
    subscribe = { $0.subscribe(to: publisher) }
  }

  /// Returns a verifier with one more step.
  ///
  /// - Parameters:
  ///   - site: the line of the call; by default, the line of `verify(on:)`, for steps that cannot fail.
  ///   - run: returns a sentence that describes the difference from the expectation, beginning in lower case; `nil` if
  ///     there is none.
  func adding(_ site: CallSite? = nil, _ run: @escaping (Run) -> String?) -> Self {
    var copy = self
    copy.steps.append(Step(site: site ?? self.site, run: run))
    return copy
  }

  /// Names the previous step in its failure message.
  public func `as`(
    _ name: String, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Self {
    guard !steps.isEmpty else {
      return adding(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) { _ in
        "as(\(name.quoted)) names the step before it, but there is none; put it after a step."
      }
    }
    var copy = self
    copy.steps[steps.count - 1].name = name
    return copy
  }

  /// Executes the steps, in order.
  public func verify() {
    let recorder = Recorder<Output, Failure>(
      on: time, demand: demand, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
    defer { recorder.cancel() }
    subscribe(recorder)
    let run = Run(recorder, time)
    for (index, step) in steps.enumerated() {
      guard let message = step.run(run) else { continue }
      _ = recorder.events
      let name = step.name.map { " (“\($0)”)" } ?? ""
      return recorder.fail("Step \(index + 1) of \(steps.count)\(name): \(message)", step.site)
    }
    recorder.isChecked = true
    if let leftover = recorder.leftover { recorder.fail("After the last step: \(leftover)", steps.last?.site ?? site) }
    _ = recorder.events
  }
}

extension Publisher {
  /// Makes a verifier that checks this publisher step by step; see ``StepVerifier``.
  public func verify(
    on time: VirtualTimeScheduler = VirtualTimeScheduler(), demand: DemandScript = .unlimited,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> StepVerifier<Output, Failure> {
    StepVerifier(
      self, time, demand, CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}
