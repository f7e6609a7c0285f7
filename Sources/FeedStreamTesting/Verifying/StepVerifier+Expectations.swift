import FeedStream

extension StepVerifier {
  /// Expects the subscription; advances time until there is one.
  public func expectSubscription(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Self {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(site) { run in
      if let trouble = run.advance(site, until: { run.recorder.subscribedAt != nil }) {
        return "expected a subscription, but \(trouble)"
      }
      return run.recorder.subscribedAt == nil ? "expected a subscription, but there was none." : nil
    }
  }

  /// Expects these values next.
  public func expectNext(
    _ values: Output..., fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Self where Output: Equatable {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    guard !values.isEmpty else {
      return adding(site) { _ in
        "expectNext() expects nothing; say which values come next, or use expectNoEvent(for:)."
      }
    }
    return expect(values, site)
  }

  /// Expects the elements of `values` next. The sequence must be finite.
  public func expectNextSequence(
    _ values: some Sequence<Output>, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> Self where Output: Equatable {
    expect(Array(values), CallSite(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  private func expect(_ values: [Output], _ site: CallSite) -> Self where Output: Equatable {
    adding(site) { run in
      for (index, expected) in values.enumerated() {
        let place = values.count > 1 ? " (\(index + 1) of \(values.count))" : ""
        let (event, trouble) = run.take("the value ‹\(expected)›\(place)", site)
        guard case .value(expected)? = event?.content else { return trouble }
      }
      return nil
    }
  }

  /// Expects `count` values next, whatever they are.
  ///
  /// - Parameter count: 0 or more.
  public func expectNextCount(
    _ count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Self {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(site) { run in
      guard count >= 0 else { return "expectNextCount(\(count)): the count cannot be negative; use 0 or more." }
      for number in 0..<count {
        let (event, trouble) = run.take("\(count) values, of which \(number) arrived", site)
        guard case .value? = event?.content else { return trouble }
      }
      return nil
    }
  }

  /// Expects the next event to be a value that `isExpected` accepts.
  ///
  /// - Parameter what: the description of the value in the message.
  public func expectNext(
    _ what: String = "a value that the closure accepts", fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    where isExpected: @escaping (Output) -> Bool
  ) -> Self {
    expect(what, CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
      if case .value(let value) = $0 { isExpected(value) } else { false }
    }
  }

  /// Expects the stream to finish next.
  public func expectFinished(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Self {
    expect("the stream to finish", CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
      if case .completion(.finished) = $0 { true } else { false }
    }
  }

  /// Expects the stream to fail next, with an error that `isExpected` accepts.
  public func expectFailure(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    where isExpected: @escaping (Failure) -> Bool = { _ in true }
  ) -> Self {
    expect("the stream to fail", CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) {
      if case .completion(.failure(let error)) = $0 { isExpected(error) } else { false }
    }
  }

  /// Expects no event while time passes.
  public func expectNoEvent(
    for interval: StreamInstant.Stride, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) -> Self {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(site) { run in
      run.time.advance(
        by: interval, fileID: site.fileID, filePath: site.filePath, line: site.line, column: site.column)
      return run.recorder.unreadEvents.first.map {
        "expected nothing for \(interval.nanoseconds.asTime), but \($0.inWords())."
      }
    }
  }

  /// Expects that `isExpected` accepts the values that the steps since ``recordWith(_:)`` have taken.
  ///
  /// - Parameter what: the description of the values in the message.
  public func expectRecorded(
    _ what: String = "values that the closure accepts", fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    where isExpected: @escaping ([Output]) -> Bool
  ) -> Self {
    adding(CallSite(fileID: fileID, filePath: filePath, line: line, column: column)) { run in
      guard let recorded = run.recorded else {
        return "nothing is recorded; put recordWith() before the steps that take the values."
      }
      return isExpected(recorded) ? nil : "expected \(what), but \(recorded) were recorded."
    }
  }

  private func expect(
    _ what: String, _ site: CallSite, where isExpected: @escaping (StreamEvent<Output, Failure>) -> Bool
  ) -> Self {
    adding(site) { run in
      let (event, trouble) = run.take(what, site)
      return event.map { isExpected($0.content) } ?? false ? nil : trouble
    }
  }
}
