import FeedStream

extension Recorder {
  /// Fails the test unless the recording of a stream of streams, such as windows and groups, matches the diagrams.
  ///
  ///     windows.expect("x--y-|", streams: ["x": "a--(b|)", "y": "c-|"])
  ///
  /// The times of each stream are relative to its arrival. All events count as read, including those of the delivered
  /// streams. Values are compared as in the other forms of `expect`.
  ///
  /// - Parameters:
  ///   - marbles: the arrivals of the streams; see ``Marbles``.
  ///   - streams: the diagram of each stream.
  ///   - values: the values of the characters in `streams`. Other characters represent themselves if the type is
  ///     `Character` or `String`, and digits represent numbers if the type is `Int`.
  ///   - failure: the failure for `#` in `marbles`; ``MarbleFailure`` by default.
  ///   - streamFailure: the failure for `#` in `streams`; ``MarbleFailure`` by default.
  ///   - frame: the duration of one character.
  public func expect<Stream: Publisher>(
    _ marbles: String, streams: KeyValuePairs<Character, String>,
    values: KeyValuePairs<Character, Stream.Output> = [:], failure: Failure? = nil,
    streamFailure: Stream.Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) where Input == StreamRecording<Stream> {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    let key = MarbleKey(values: values, failure: streamFailure)
    let outer = MarbleKey<Never, Failure>(values: [:], failure: failure)
    var actual = recordedStreams()
    let expected: StreamsTimeline<Stream.Output, Stream.Failure, Failure>
    do throws(MarbleError) {
      expected = try StreamsTimeline(marbles, streams, key, outer, frame)
    } catch {
      return fail("\(error)", site)
    }
    guard let mark = expected.firstDifference(from: actual) else { return }
    actual.takeNames(from: expected)
    let lanes = expected.lanes("expected", key, outer) + actual.lanes("actual", key, outer)
    let text = MarbleText(lanes)
    let hints = zip(expected.streams, actual.streams).map { lookalikeHint($0.events, $1.events) }
    fail(
      "The streams differ from the diagrams at \(mark.nanoseconds.asTime):\n"
        + (text.draw(frame: frame, mark: mark) ?? text.draw(mark: mark))
        + key.legend(for: lanes.flatMap(\.events).map(\.token))
        + (hints.first { !$0.isEmpty } ?? lookalikeHint(expected.ending, actual.ending))
        + (events.isEmpty ? "" : "\nTo paste: \(actual.source(key, outer, frame: frame))")
        + hint(isMissing: actual.streams.count < expected.streams.count), site)
  }

  private func recordedStreams<Stream: Publisher>() -> StreamsTimeline<Stream.Output, Stream.Failure, Failure>
  where Input == StreamRecording<Stream> {
    var result = StreamsTimeline<Stream.Output, Stream.Failure, Failure>()
    let start = origin ?? subscribedAt ?? time.now
    for event in events {
      let offset = start.distance(to: event.time)
      switch event.content {
      case .completion(let completion): result.ending.append((offset, .completion(completion)))
      case .value(let recording):
        let events = recording.recorder.events.map { (time: event.time.distance(to: $0.time), event: $0.content) }
        result.streams.append(.init(name: "?", start: offset, events: events))
      }
    }
    return result
  }
}

extension StreamsTimeline {
  /// Reads the events from diagrams.
  fileprivate init(
    _ marbles: String, _ streams: KeyValuePairs<Character, String>, _ key: MarbleKey<Value, StreamFailure>,
    _ outer: MarbleKey<Never, Failure>, _ frame: StreamInstant.Stride
  ) throws(MarbleError) {
    for marble in try Marbles(marbles, frame: frame).marbles {
      guard case .value(let name) = marble.symbol else {
        ending.append((marble.time, try outer.event(for: marble, in: marbles)))
        continue
      }
      let texts = streams.filter { $0.key == name }.map(\.value)
      guard let text = texts.first else {
        throw MarbleError(
          text: marbles, offset: marble.offset, reason: "say which stream \(name) is: streams: [\"\(name)\": \"…\"]")
      }
      if let other = texts.first(where: { $0 != text }) {
        throw MarbleError(
          text: marbles, offset: marble.offset,
          reason: "\(name) stands for \"\(text)\" and for \"\(other)\"; keep one of them in streams:")
      }
      self.streams.append(
        .init(name: name, start: marble.time, events: try key.events(in: Marbles(text, frame: frame))))
    }
  }
}

/// Subscribes to `publisher`, a stream of streams, and to each stream as it arrives, runs `time` to the end, and fails
/// the test unless the events match the diagrams.
///
///     expectMarbles(time.hot("ab--c|").window(2), on: time, "x---(y|)", streams: ["x": "a(b|)", "y": "c|"])
///
/// - Parameters:
///   - publisher: the publisher to test, which may wait only for work on `time`.
///   - time: the scheduler, which is advanced until no work is left.
///   - marbles: the arrivals of the streams; see ``Marbles``.
///   - streams: the diagram of each stream; its times are relative to the stream's arrival.
///   - values: the values of the characters in `streams`.
///   - failure: the failure for `#` in `marbles`; ``MarbleFailure`` by default.
///   - streamFailure: the failure for `#` in `streams`; ``MarbleFailure`` by default.
///   - frame: the duration of one character.
public func expectMarbles<P: Publisher>(
  _ publisher: P, on time: VirtualTimeScheduler, _ marbles: String, streams: KeyValuePairs<Character, String>,
  values: KeyValuePairs<Character, P.Output.Output> = [:], failure: P.Failure? = nil,
  streamFailure: P.Output.Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1),
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) where P.Output: Publisher {
  let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
  let recorder = publisher.recordStreams(on: time, fileID: fileID, filePath: filePath, line: line, column: column)
  time.run(fileID: fileID, filePath: filePath, line: line, column: column)
  recorder.expect(
    marbles, streams: streams, values: values, failure: failure, streamFailure: streamFailure, frame: frame,
    fileID: fileID, filePath: filePath, line: line, column: column)
  if let message = recorder.missingSubscription, !recorder.isExcused { recorder.fail(message, site) }
  for case .value(let recording) in recorder.events.map(\.content) { recording.recorder.cancel() }
  recorder.cancel()
}
