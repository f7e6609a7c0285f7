import FeedStream

extension Recorder {
  /// Fails the test unless the recording matches `marbles`. Times are relative to the subscription.
  ///
  /// The message shows the expected events above the actual ones, with a column per frame (or per instant, if the
  /// diagram would be long). It also shows the actual events as a diagram that you can paste into the test. All events
  /// count as read.
  ///
  ///     The stream differs from the diagram at 2ms:
  ///     expected  a-c-(xy)-|
  ///     actual    a-b-(xy)|
  ///                 ^
  ///     To paste: "a-b-(xy)|"
  ///
  /// For a recorder made by `record(on:during:)`, times are relative to the beginning of its subscription diagram.
  ///
  /// Values are compared with `==` if they are `Equatable`. Otherwise, tuples, optionals and structures that a `Mirror`
  /// shows as collections are compared by their elements; other values by their `description` or `debugDescription` if
  /// they have one; other objects by identity; and the rest by their parts. A closure equals nothing: make a type that
  /// contains one `Equatable`.
  ///
  /// - Parameters:
  ///   - marbles: the expected events; see ``Marbles``.
  ///   - values: the values of the characters. Other characters represent themselves if the type is `Character` or
  ///     `String`, and digits represent numbers if the type is `Int`.
  ///   - failure: the failure for `#`; ``MarbleFailure`` by default.
  ///   - frame: the duration of one character.
  public func expect(
    _ marbles: String, values: KeyValuePairs<Character, Input> = [:], failure: Failure? = nil,
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    compare(with: marbles, MarbleKey(values: values, failure: failure), frame, site)
  }

  /// The same as the overload that takes `KeyValuePairs`, but with values from a dictionary, which tests can share.
  @_disfavoredOverload
  public func expect(
    _ marbles: String, values: [Character: Input], failure: Failure? = nil,
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    compare(with: marbles, MarbleKey(sorting: values, failure: failure), frame, site)
  }

  /// - Parameter endless: a message about endless work, to include in the failure.
  func compare(
    with marbles: String, _ key: MarbleKey<Input, Failure>, _ frame: StreamInstant.Stride, _ site: CallSite,
    endless: String? = nil
  ) {
    // Read the events, so that they count as read even if the diagram is invalid.
    let actual = timeline
    let expected: [(time: StreamInstant.Stride, event: Event)]
    do throws(MarbleError) {
      expected = try key.events(in: Marbles(marbles, frame: frame))
    } catch {
      return fail("\(error)", site)
    }
    guard let mark = firstDifference(expected, actual) else {
      if let endless { fail(endless, site) }
      return
    }
    let lanes = [
      MarbleText.Lane(title: "expected", events: expected.map { ($0.time, key.token(for: $0.event)) }),
      MarbleText.Lane(title: "actual", events: actual.map { ($0.time, key.token(for: $0.event)) }),
    ]
    let text = MarbleText(lanes)
    let isMissing = actual.count < expected.count && firstDifference(Array(expected[..<actual.count]), actual) == nil
    fail(
      "The stream differs from the diagram at \(mark.nanoseconds.asTime):\n"
        + (text.draw(frame: frame, mark: mark) ?? text.draw(mark: mark))
        + key.legend(for: lanes.flatMap(\.events).map(\.token)) + lookalikeHint(expected, actual)
        + toPaste(actual, key, frame) + (endless.map { "\n" + $0 } ?? hint(isMissing: isMissing)), site)
  }

  private func toPaste(
    _ events: [(time: StreamInstant.Stride, event: Event)], _ key: MarbleKey<Input, Failure>,
    _ frame: StreamInstant.Stride
  ) -> String {
    // Nothing was recorded, or the recording is too long to read.
    guard 1...100 ~= events.count else { return "" }
    var names = MarbleNames(key, for: events.map(\.event))
    let text = names.text(of: events, frame: frame)
    return "\nTo paste: \(text.quoted)\(names.arguments())"
  }

  /// Explains why events may be missing.
  ///
  /// - Parameter isMissing: true if only the end of the expected events is missing.
  func hint(isMissing: Bool) -> String {
    if subscribedAt == nil { return "\nThere was no subscription." }
    guard isMissing, !isOver else { return "" }
    guard let next = time.pending.first(where: { !$0.isEndless }) else {
      return "\nNo work is left in virtual time, but the stream is still live. \(outsideAdvice)"
    }
    return "\nThe time is \(time.now.nanoseconds.asTime), and work is pending: \(next). Advance time, or call run()."
  }

  /// The events. Times are relative to the subscription, or to the beginning of the subscription diagram.
  var timeline: [(time: StreamInstant.Stride, event: Event)] {
    let start = origin ?? subscribedAt ?? time.now
    return events.map { (start.distance(to: $0.time), $0.content) }
  }

  /// The recording as text, with times above and events below.
  public var marbles: String {
    let key = MarbleKey<Input, Failure>(values: [:], failure: nil)
    return MarbleText([MarbleText.Lane(title: "", events: timeline.map { ($0.time, key.token(for: $0.event)) })]).draw()
  }

  /// The recording as a diagram that ``Marbles`` can read. Values for which no character is given are shown as letters.
  /// All events count as read.
  ///
  ///     #expect(recorder.marbles(frame: 1) == "a-b--(c|)")
  ///
  /// - Parameters:
  ///   - frame: the duration of one character.
  ///   - values: the values of the characters.
  public func marbles(frame: StreamInstant.Stride, values: KeyValuePairs<Character, Input> = [:]) -> String {
    let events = timeline
    var names = MarbleNames(MarbleKey<Input, Failure>(values: values, failure: nil), for: events.map(\.event))
    return names.text(of: events, frame: frame)
  }
}

/// Subscribes to `publisher` now, runs `time` to the end, and fails the test unless the events match `marbles`. Also
/// fails the test if the publisher delivers no subscription, unless the subscription diagram cancels while work is
/// pending.
///
/// - Parameters:
///   - publisher: the publisher to test, which may wait only for work on `time`.
///   - time: the scheduler, which is advanced until no work is left.
///   - subscription: the times of the subscription and the cancellation, as a diagram such as `"--^---!"`. Times are
///     relative to the beginning of this diagram. See ``SubscriptionMarbles``.
///   - marbles: the expected events; see ``Marbles``.
///   - values: the values of the characters. Other characters represent themselves if the type is `Character` or
///     `String`, and digits represent numbers if the type is `Int`.
///   - failure: the failure for `#`; ``MarbleFailure`` by default.
///   - frame: the duration of one character, in both diagrams.
public func expectMarbles<P: Publisher>(
  _ publisher: P, on time: VirtualTimeScheduler, during subscription: String = "^", _ marbles: String,
  values: KeyValuePairs<Character, P.Output> = [:], failure: P.Failure? = nil,
  frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column
) {
  let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
  expectMarbles(publisher, time, subscription, marbles, MarbleKey(values: values, failure: failure), frame, site)
}

/// The same as the overload that takes `KeyValuePairs`, but with values from a dictionary, which tests can share.
@_disfavoredOverload
public func expectMarbles<P: Publisher>(
  _ publisher: P, on time: VirtualTimeScheduler, during subscription: String = "^", _ marbles: String,
  values: [Character: P.Output], failure: P.Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1),
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
  let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
  expectMarbles(publisher, time, subscription, marbles, MarbleKey(sorting: values, failure: failure), frame, site)
}

private func expectMarbles<P: Publisher>(
  _ publisher: P, _ time: VirtualTimeScheduler, _ subscription: String, _ marbles: String,
  _ key: MarbleKey<P.Output, P.Failure>, _ frame: StreamInstant.Stride, _ site: CallSite
) {
  let recorder = Recorder<P.Output, P.Failure>(
    on: time, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
  recorder.subscribe(to: publisher, during: subscription, frame, site)
  let endless = time.runNoticing(site)
  recorder.compare(with: marbles, key, frame, site, endless: endless)
  if let message = recorder.missingSubscription, !recorder.isExcused { recorder.fail(message, site) }
  recorder.cancel()
}
