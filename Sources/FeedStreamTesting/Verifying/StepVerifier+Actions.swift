import FeedStream

extension StepVerifier {
  /// Requests more values.
  public func thenRequest(
    _ count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Self {
    adding(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) { run in
      guard count > 0 else { return "thenRequest(\(count)) requests nothing; request at least one value." }
      run.recorder.request(.max(count))
      return nil
    }
  }

  /// Advances time, regardless of events.
  public func thenAdvance(
    by interval: StreamInstant.Stride, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> Self {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(site) { run in
      run.time.advance(
        by: interval, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
      return nil
    }
  }

  /// Takes values as long as `isTaken` accepts them. Advances time until a value is not accepted, the stream completes,
  /// or no work is left. Fails if more than ``VirtualTimeScheduler/workLimit`` values are accepted.
  ///
  /// - Parameters:
  ///   - isTaken: returns true to take a value; the first value that is not taken is left for the next step.
  ///   - consume: receives each taken value.
  public func thenConsumeWhile(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ isTaken: @escaping (Output) -> Bool, consume: @escaping (Output) -> Void = { _ in }
  ) -> Self {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(site) { run in
      var taken = 0
      while true {
        if let trouble = run.advance(site) { return "expected a value or the completion, but \(trouble)" }
        guard case .value(let value)? = run.recorder.unreadEvents.first?.content, isTaken(value) else { return nil }
        guard taken < run.time.workLimit else {
          return
            "expected a value that isn't taken, or the completion, but \(taken) values were taken, and more arrive."
        }
        taken += 1
        _ = run.take("a value", site)
        consume(value)
      }
    }
  }

  /// Records the values that the following steps take, for ``expectRecorded(_:fileID:filePath:line:column:where:)``.
  ///
  /// - Parameter keep: also receives each value.
  public func recordWith(_ keep: @escaping (Output) -> Void = { _ in }) -> Self {
    adding { run in
      run.record(keep)
      return nil
    }
  }

  /// Runs an action, for example to send a value.
  public func then(_ action: @escaping () -> Void) -> Self {
    adding { _ in
      action()
      return nil
    }
  }

  /// Cancels the subscription.
  public func thenCancel() -> Self {
    adding { run in
      run.recorder.cancel()
      return nil
    }
  }
}
