import FeedStream

extension VirtualTimeScheduler {
  /// Makes a stream of strings that plays `marbles` once, from now on, to the current subscribers. `^` marks the
  /// current time. A value that was not requested is lost; the ``SubscriptionRecord`` counts it.
  ///
  ///     let typing = time.hot("s-e-a 500ms |")
  ///
  /// If the diagram cannot be read, the test fails with a message that points at the character, and the publisher does
  /// nothing. The resulting differences don't fail the test again.
  ///
  /// - Parameters:
  ///   - marbles: the events; see ``Marbles``. Each character represents itself, and `#` represents ``MarbleFailure``.
  ///   - frame: the duration of one character.
  public func hot(
    _ marbles: String, frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<String, MarbleFailure> {
    read(
      .hot, marbles, MarbleKey(values: [:], failure: MarbleFailure()), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stream with values of a different type, which is inferred from `values` or from the use of the publisher,
  /// or given as `type`.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - type: the type of the values.
  ///   - values: the values of the characters. Other characters represent themselves if the type is `Character` or
  ///     `String`, and digits represent numbers if the type is `Int`.
  ///   - frame: the duration of one character.
  public func hot<Output>(
    _ marbles: String, of type: Output.Type = Output.self, values: KeyValuePairs<Character, Output> = [:],
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, MarbleFailure> {
    read(
      .hot, marbles, MarbleKey(values: values, failure: MarbleFailure()), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes the same stream, but with values from a dictionary, which tests can share.
  @_disfavoredOverload
  public func hot<Output>(
    _ marbles: String, values: [Character: Output], frame: StreamInstant.Stride = .milliseconds(1),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, MarbleFailure> {
    read(
      .hot, marbles, MarbleKey(sorting: values, failure: MarbleFailure()), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stream of strings with a different failure type, which may be `Never`, as triggers require.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - failure: the failure for `#`; not needed for a diagram without `#`.
  ///   - frame: the duration of one character.
  public func hot<Failure: Error>(
    _ marbles: String, failure: Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<String, Failure> {
    read(
      .hot, marbles, MarbleKey(values: [:], failure: failure), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stream with a different failure type, which may be `Never`, as triggers require.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - type: the type of the values.
  ///   - values: the values of the characters. Other characters represent themselves if the type is `Character` or
  ///     `String`, and digits represent numbers if the type is `Int`.
  ///   - failure: the failure for `#`; not needed for a diagram without `#`.
  ///   - frame: the duration of one character.
  public func hot<Output, Failure: Error>(
    _ marbles: String, of type: Output.Type = Output.self, values: KeyValuePairs<Character, Output> = [:],
    failure: Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, Failure> {
    read(
      .hot, marbles, MarbleKey(values: values, failure: failure), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes the same stream, but with values from a dictionary, which tests can share.
  @_disfavoredOverload
  public func hot<Output, Failure: Error>(
    _ marbles: String, values: [Character: Output], failure: Failure? = nil,
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, Failure> {
    read(
      .hot, marbles, MarbleKey(sorting: values, failure: failure), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}

extension VirtualTimeScheduler {
  /// Makes the publisher that a diagram describes. A diagram that cannot be read fails the test, and its publisher
  /// sends no events.
  func read<Output, Failure>(
    _ kind: ScriptedPublisher<Output, Failure>.Kind, _ marbles: String, _ key: MarbleKey<Output, Failure>,
    _ frame: StreamInstant.Stride, _ site: CallSite
  ) -> ScriptedPublisher<Output, Failure> {
    var script: [(time: StreamInstant.Stride, event: StreamEvent<Output, Failure>)] = []
    do throws(MarbleError) {
      script = try key.events(in: Marbles(marbles, frame: frame))
    } catch {
      site.fail("\(error)")
      audit.noteUnreadable()
    }
    return ScriptedPublisher(
      kind, script, on: self, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
  }
}
