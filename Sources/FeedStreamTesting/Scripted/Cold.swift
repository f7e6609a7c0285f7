import FeedStream

extension VirtualTimeScheduler {
  /// Makes a stream of strings that plays `marbles` to each subscriber from the beginning. Values wait for demand.
  ///
  ///     let answers = time.cold("--a-b|")
  ///
  /// If the diagram cannot be read, the test fails with a message that points at the character, and the publisher does
  /// nothing. The resulting differences don't fail the test again.
  ///
  /// - Parameters:
  ///   - marbles: the events; see ``Marbles``. Each character represents itself, and `#` represents ``MarbleFailure``.
  ///   - frame: the duration of one character.
  public func cold(
    _ marbles: String, frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<String, MarbleFailure> {
    read(
      .cold, marbles, MarbleKey(values: [:], failure: MarbleFailure()), frame,
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
  public func cold<Output>(
    _ marbles: String, of type: Output.Type = Output.self, values: KeyValuePairs<Character, Output> = [:],
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, MarbleFailure> {
    read(
      .cold, marbles, MarbleKey(values: values, failure: MarbleFailure()), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes the same stream, but with values from a dictionary, which tests can share.
  @_disfavoredOverload
  public func cold<Output>(
    _ marbles: String, values: [Character: Output], frame: StreamInstant.Stride = .milliseconds(1),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, MarbleFailure> {
    read(
      .cold, marbles, MarbleKey(sorting: values, failure: MarbleFailure()), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stream of strings with a different failure type, which may be `Never`, as triggers require.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - failure: the failure for `#`; not needed for a diagram without `#`.
  ///   - frame: the duration of one character.
  public func cold<Failure: Error>(
    _ marbles: String, failure: Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<String, Failure> {
    read(
      .cold, marbles, MarbleKey(values: [:], failure: failure), frame,
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
  public func cold<Output, Failure: Error>(
    _ marbles: String, of type: Output.Type = Output.self, values: KeyValuePairs<Character, Output> = [:],
    failure: Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, Failure> {
    read(
      .cold, marbles, MarbleKey(values: values, failure: failure), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes the same stream, but with values from a dictionary, which tests can share.
  @_disfavoredOverload
  public func cold<Output, Failure: Error>(
    _ marbles: String, values: [Character: Output], failure: Failure? = nil,
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, Failure> {
    read(
      .cold, marbles, MarbleKey(sorting: values, failure: failure), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}
