import FeedStream

/// An event that one of several upstreams sent.
public struct JoinEvent: Sendable, CustomStringConvertible {
  /// The upstream's index, from 0.
  public let upstream: Int
  public let event: StreamEvent<Int, MarbleFailure>

  /// The value, or `nil` for a completion.
  public var value: Int? { if case .value(let value) = event { value } else { nil } }
  public var isFinished: Bool { if case .completion(.finished) = event { true } else { false } }
  public var isFailure: Bool { if case .completion(.failure) = event { true } else { false } }

  public var description: String {
    let name = String(UnicodeScalar(UInt8(97 + upstream)))
    if let value { return "\(name) sends \(value)" }
    return isFinished ? "\(name) finishes" : "\(name) fails"
  }
}

extension [JoinEvent] {
  /// The values that an upstream sent.
  public func values(of upstream: Int) -> [Int] { filter { $0.upstream == upstream }.compactMap(\.value) }

  /// True if an upstream has completed.
  public func hasEnded(_ upstream: Int) -> Bool { contains { $0.upstream == upstream && $0.value == nil } }

  /// The completion of a stream that fails with the first failure, and otherwise finishes when `isDone` is true.
  public func ending(finishedWhen isDone: Bool) -> Given.Ending? {
    contains(where: \.isFailure) ? .fails : isDone ? .finished : nil
  }
}

extension StreamRules {
  /// Checks an operator that combines several publishers, with every possible sequence of their events: values,
  /// completions and failures in every order, up to a given number of events. The shortest sequence that breaks a rule
  /// fails the test.
  ///
  ///     StreamRules.verify("merge", joining: 2, expects: { history in
  ///       (history.compactMap(\.value), history.ending(finishedWhen: history.hasEnded(0) && history.hasEnded(1)))
  ///     }) { $0[0].merge(with: $0[1]) }
  ///
  /// After each event, the values and the completion are compared with `expects`. Before the completion, the operator
  /// must not cancel any upstream; at the completion, it must cancel all upstreams that are still running.
  ///
  /// - Parameters:
  ///   - count: the number of upstreams.
  ///   - limit: the maximum number of events.
  ///   - cancelsEarly: true for an operator that cancels an upstream while the stream continues, as `race` does with
  ///     the losers.
  ///   - expects: returns the values that must have been delivered so far, and the completion, or `nil` while the
  ///     stream continues.
  ///   - build: applies the operator.
  @discardableResult public static func verify<P: Publisher>(
    _ name: String, joining count: Int, events limit: Int = 4, cancelsEarly: Bool = false,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    expects: @escaping ([JoinEvent]) -> (values: [P.Output], ending: Given.Ending?),
    _ build: @escaping ([AnyPublisher<Int, MarbleFailure>]) -> P
  ) -> Summary {
    var search = JoinSearch(count: count, cancelsEarly: cancelsEarly, expects: expects, build: build)
    if let found = search.shortestBreach(limit: limit) {
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column).fail("\(name) \(found)")
    }
    return search.summary
  }
}

/// Searches for the shortest history of several upstreams that breaks a rule.
private struct JoinSearch<P: Publisher> {
  let count: Int
  let cancelsEarly: Bool
  let expects: ([JoinEvent]) -> (values: [P.Output], ending: Given.Ending?)
  let build: ([AnyPublisher<Int, MarbleFailure>]) -> P
  private(set) var summary = StreamRules.Summary()

  init(
    count: Int, cancelsEarly: Bool, expects: @escaping ([JoinEvent]) -> (values: [P.Output], ending: Given.Ending?),
    build: @escaping ([AnyPublisher<Int, MarbleFailure>]) -> P
  ) {
    self.count = count
    self.cancelsEarly = cancelsEarly
    self.expects = expects
    self.build = build
  }

  mutating func shortestBreach(limit: Int) -> String? {
    var histories: [[JoinEvent]] = [[]]
    for _ in 0..<limit {
      let longer = histories.flatMap(continued)
      for history in longer {
        if let (rule, message) = breach(history) {
          summary.broken = rule
          let events = history.map(\.description).joined(separator: "; ")
          return
            "breaks rule \(rule.number), \(rule.title.lowercased()): \(message).\nThe shortest failing sequence: \(events)"
        }
      }
      histories = longer.filter { expects($0).ending == nil }
    }
    return nil
  }

  /// All histories that continue `history` with one more event.
  private func continued(_ history: [JoinEvent]) -> [[JoinEvent]] {
    (0..<count).filter { !history.hasEnded($0) }.flatMap { upstream in
      [.value(history.count), .completion(.finished), .completion(.failure(MarbleFailure()))].map {
        history + [JoinEvent(upstream: upstream, event: $0)]
      }
    }
  }

  private final class Log {
    var subscribed: Set<Int> = []
    var cancelled: Set<Int> = []
    var violation: (StreamRule, String)?
  }

  private mutating func breach(_ history: [JoinEvent]) -> (StreamRule, String)? {
    summary.scripts += 1
    let time = VirtualTimeScheduler()
    let log = Log()
    let subjects = (0..<count).map { _ in PassthroughSubject<Int, MarbleFailure>(of: "JoinSearch") }
    let recorder = Recorder<P.Output, P.Failure>(on: time)
    recorder.onViolation = { log.violation = (StreamRule(rawValue: $0)!, $1) }
    build(
      subjects.enumerated().map { index, subject in
        subject.handleEvents(
          receiveSubscription: { _ in log.subscribed.insert(index) }, receiveCancel: { log.cancelled.insert(index) }
        ).eraseToAnyPublisher()
      }
    ).subscribe(recorder)
    for event in history {
      switch event.event {
      case .value(let value): subjects[event.upstream].send(value)
      case .completion(let completion): subjects[event.upstream].send(completion: completion)
      }
    }
    defer { recorder.cancel() }
    return log.violation ?? deviation(of: recorder, after: history) ?? wrongCancellation(log, after: history)
  }

  private func deviation(of recorder: Recorder<P.Output, P.Failure>, after history: [JoinEvent]) -> (
    StreamRule, String
  )? {
    let due = expects(history)
    guard recorder.values.count == due.values.count, zip(recorder.values, due.values).allSatisfy({ isSame($0, $1) })
    else {
      let advice = zip(recorder.values, due.values).contains { looksSame($0, $1) } ? ".\n\(lookalikeAdvice)" : ""
      return (.orderIsKept, "the values \(recorder.values) were delivered, instead of \(due.values)\(advice)")
    }
    switch (recorder.completion, due.ending) {
    case (nil, nil), (.finished, .finished), (.finished, .either), (.failure, .fails), (.failure, .either): return nil
    case (nil, let ending?):
      return (.nothingLostInSilence, "the stream continued, but it should have \(wanted(ending))")
    case (.finished, let ending): return (.oneEnding, "the stream finished, but it should have \(wanted(ending))")
    case (.failure, let ending): return (.oneEnding, "the stream failed, but it should have \(wanted(ending))")
    }
  }

  private func wanted(_ ending: Given.Ending?) -> String {
    switch ending {
    case nil: "continued"
    case .finished?: "finished"
    case .fails?: "failed"
    case .either?: "completed"
    }
  }

  private func wrongCancellation(_ log: Log, after history: [JoinEvent]) -> (StreamRule, String)? {
    let cancelled = log.cancelled
    // An operator may subscribe to its upstreams one after another.
    let running = log.subscribed.filter { !history.hasEnded($0) }
    if expects(history).ending != nil {
      return running.isSubset(of: cancelled)
        ? nil : (.everythingReleased, "an upstream was not cancelled on completion")
    }
    guard !cancelsEarly, !running.isDisjoint(with: cancelled) else { return nil }
    return (.everythingReleased, "an upstream was cancelled while the stream continued")
  }
}
