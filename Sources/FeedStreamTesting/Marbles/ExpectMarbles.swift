import FeedStream

extension Recorder {
  /// Fails the test unless the recording is what `marbles` shows, its time counted from the subscription.
  ///
  /// The message draws what was expected and what happened one under the other. All events count as looked at.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - values: what the characters stand for; by default themselves, for `Character`, `String` and digits for `Int`.
  ///   - failure: what `#` stands for; by default ``MarbleFailure``.
  ///   - frame: how long one character takes.
  public func expect(
    _ marbles: String, values: KeyValuePairs<Character, Input> = [:], failure: Failure? = nil,
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    let key = MarbleKey(values: values, failure: failure)
    let expected: [(time: StreamInstant.Stride, event: Event)]
    do throws(MarbleError) {
      expected = try key.events(in: Marbles(marbles, frame: frame))
    } catch {
      // What happened has been looked at, though there is nothing to compare it with.
      _ = events
      return site.fail("\(error)")
    }
    let start = subscribedAt ?? time.now
    let actual = events.map { (time: start.distance(to: $0.time), event: $0.content) }
    // Events that happen at one instant are compared in their order.
    let difference = zip(expected, actual).first { $0.time != $1.time || !isSame($0.event, $1.event) }
    guard difference != nil || expected.count != actual.count else { return }
    let rest =
      expected.count > actual.count ? expected[actual.count].time : actual.dropFirst(expected.count).first?.time
    let lanes = [
      MarbleText.Lane(title: "expected", events: expected.map { ($0.time, key.token(for: $0.event)) }),
      MarbleText.Lane(title: "actual", events: actual.map { ($0.time, key.token(for: $0.event)) }),
    ]
    let mark = difference.map { min($0.time, $1.time) } ?? rest
    let hint = subscribedAt == nil ? "\nThere was no subscription." : ""
    site.fail(
      "The stream differs from the diagram at \(mark?.nanoseconds.asTime ?? "?"):\n"
        + MarbleText(lanes).draw(mark: mark) + key.legend(for: lanes.flatMap(\.events).map(\.token)) + hint
        + time.seedNote)
  }

  /// The recording as text, times above, events below.
  public var marbles: String {
    let start = subscribedAt ?? time.now
    let key = MarbleKey<Input, Failure>(values: [:], failure: nil)
    return MarbleText([
      MarbleText.Lane(
        title: "", events: events.map { (start.distance(to: $0.time), key.token(for: $0.content)) })
    ]).draw()
  }
}

/// Subscribes to `publisher` now, runs to the end, and fails the test unless it delivers what `marbles` shows.
///
/// - Parameters:
///   - publisher: what to test; what it waits for is on `time`.
///   - time: moves until nothing is left to do.
///   - marbles: see ``Marbles``.
public func expectMarbles<P: Publisher>(
  _ publisher: P, on time: VirtualTimeScheduler, _ marbles: String, values: KeyValuePairs<Character, P.Output> = [:],
  failure: P.Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
  let recorder = publisher.record(on: time, fileID: fileID, filePath: filePath, line: line, column: column)
  time.run(fileID: fileID, filePath: filePath, line: line, column: column)
  recorder.expect(
    marbles, values: values, failure: failure, frame: frame, fileID: fileID, filePath: filePath, line: line,
    column: column)
  recorder.cancel()
}
