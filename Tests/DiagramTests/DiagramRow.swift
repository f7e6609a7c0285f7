import FeedStream
import FeedStreamTesting
import Testing

typealias Numbers = ScriptedPublisher<Int, MarbleFailure>
typealias Letters = ScriptedPublisher<String, MarbleFailure>

/// An operator, with the diagrams of its inputs and of the expected output; a character takes a second.
struct DiagramRow: Sendable, CustomTestStringConvertible {
  /// Names the image file, `marbles-name.svg`.
  let name: String
  /// The expression, as the box in the image shows it.
  let code: String
  /// The row's position in its source file.
  let site: CallSite
  /// Runs the operator, compares its output with the expected one, and draws it.
  let draw: @Sendable () -> MarbleDiagram

  var testDescription: String { name }

  /// For an operator with one upstream.
  ///
  /// - Parameters:
  ///   - values: the values that the characters of `output` represent.
  ///   - failure: the error that `#` in `output` represents.
  ///   - showsTimes: true if the image shows the time of each event.
  ///   - demand: the subscriber's demand; the image shows it, if given.
  init<Input: MarbleValue & SendableMetatype, P: Publisher & SendableMetatype>(
    _ name: String, _ code: String, _ input: String, _ output: String, values: KeyValuePairs<Character, P.Output> = [:],
    failure: P.Failure? = nil, showsTimes: Bool = false, asking demand: DemandScript? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build: @escaping @Sendable (ScriptedPublisher<Input, MarbleFailure>, VirtualTimeScheduler) -> P
  ) where P.Output: Sendable {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    self.init(name, code, [("", input)], output, values, failure, showsTimes, demand, site) { upstreams, time in
      build(upstreams[0], time)
    }
  }

  /// For an operator with two upstreams; the second is called `other`.
  init<Input: MarbleValue & SendableMetatype, P: Publisher & SendableMetatype>(
    _ name: String, _ code: String, _ input: String, other: String, _ output: String,
    values: KeyValuePairs<Character, P.Output> = [:], showsTimes: Bool = false,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ build:
      @escaping @Sendable (
        ScriptedPublisher<Input, MarbleFailure>, ScriptedPublisher<Input, MarbleFailure>, VirtualTimeScheduler
      ) -> P
  ) where P.Output: Sendable {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    self.init(
      name, code, [("", input), ("other", other)], output, values, nil, showsTimes, nil, site
    ) { upstreams, time in build(upstreams[0], upstreams[1], time) }
  }

  private init<Input: MarbleValue & SendableMetatype, P: Publisher & SendableMetatype>(
    _ name: String, _ code: String, _ inputs: [(title: String, marbles: String)], _ output: String,
    _ values: KeyValuePairs<Character, P.Output>, _ failure: P.Failure?, _ showsTimes: Bool, _ demand: DemandScript?,
    _ site: CallSite,
    _ build: @escaping @Sendable ([ScriptedPublisher<Input, MarbleFailure>], VirtualTimeScheduler) -> P
  ) where P.Output: Sendable {
    self.name = name
    self.code = code
    self.site = site
    draw = {
      withVirtualTime(fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column) { time in
        let upstreams: [ScriptedPublisher<Input, MarbleFailure>] = inputs.map {
          time.cold(
            $0.marbles, frame: 1, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
        }
        let recorder = build(upstreams, time).record(
          on: time, demand: demand ?? .unlimited, fileID: site.fileID, filePath: site.filePath, line: site.line,
          column: site.column)
        time.run(fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
        recorder.expect(
          output, values: values, failure: failure, frame: 1, fileID: site.fileID, filePath: site.filePath,
          line: site.line, column: site.column)
        recorder.cancel()
        // A diagram that cannot be read has failed the test above.
        let lanes = inputs.map { input in
          (try? Marbles(input.marbles, frame: 1)).map { MarbleDiagram.Lane(input.title, $0) }
            ?? MarbleDiagram.Lane(input.title, [])
        }
        return recorder.diagram(code, inputs: lanes, showsDemand: demand != nil, showsTimes: showsTimes)
      }
    }
  }
}
