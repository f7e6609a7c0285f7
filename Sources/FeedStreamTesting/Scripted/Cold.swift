import FeedStream

extension VirtualTimeScheduler {
  /// A stream of strings that plays `marbles` to each subscriber from the beginning; a value waits until it is asked for.
  ///
  ///     let answers = time.cold("--a-b|")
  ///
  /// A diagram that cannot be read fails the test, pointing at the character, and makes a publisher that does nothing; what
  /// is not as expected because of that does not fail again.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``. Each character stands for itself, `#` for ``MarbleFailure``.
  ///   - frame: how long one character takes.
  public func cold(
    _ marbles: String, frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<String, MarbleFailure> {
    read(
      .cold, marbles, MarbleKey(values: [:], failure: MarbleFailure()), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// As above, with values of the type that `values` or the use of the publisher says, or `type`.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - type: the type of the values.
  ///   - values: what characters stand for. Others stand for themselves, for `Character`, `String` and digits for `Int`.
  ///   - frame: how long one character takes.
  public func cold<Output>(
    _ marbles: String, of type: Output.Type = Output.self, values: KeyValuePairs<Character, Output> = [:],
    frame: StreamInstant.Stride = .milliseconds(1), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<Output, MarbleFailure> {
    read(
      .cold, marbles, MarbleKey(values: values, failure: MarbleFailure()), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// As above, with names that a dictionary gives, so that tests can share them.
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

  /// A stream of strings with a failure of another type, or none: `Failure` may be `Never`, as triggers demand.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - failure: what `#` stands for; a diagram without one needs none.
  ///   - frame: how long one character takes.
  public func cold<Failure: Error>(
    _ marbles: String, failure: Failure? = nil, frame: StreamInstant.Stride = .milliseconds(1),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> ScriptedPublisher<String, Failure> {
    read(
      .cold, marbles, MarbleKey(values: [:], failure: failure), frame,
      CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// A stream with a failure of another type, or none: `Failure` may be `Never`, as triggers demand.
  ///
  /// - Parameters:
  ///   - marbles: see ``Marbles``.
  ///   - type: the type of the values.
  ///   - values: what characters stand for. Others stand for themselves, for `Character`, `String` and digits for `Int`.
  ///   - failure: what `#` stands for; a diagram without one needs none.
  ///   - frame: how long one character takes.
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

  /// As above, with names that a dictionary gives.
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
