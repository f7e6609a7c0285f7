extension Publisher {
  /// Traps if this stream fails, so that the resulting stream cannot fail.
  ///
  ///     upstream    --a--b--|
  ///     assertNoFailure()
  ///     downstream  --a--b--|       (a failure ends the process)
  ///
  /// **Demand, cancellation:** pass through. **Failure:** ends the process with a message that contains the error, the
  /// prefix, the file and the line. **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - prefix: the start of the message.
  ///   - file: the file of the assertion.
  ///   - line: the line of the assertion.
  @inlinable public func assertNoFailure(
    _ prefix: String = "", file: StaticString = #file, line: UInt = #line
  ) -> Publishers.AssertNoFailure<Self> {
    Publishers.AssertNoFailure(upstream: self, prefix: prefix, file: file, line: line)
  }
}

extension Publishers {
  /// See ``Publisher/assertNoFailure(_:file:line:)``.
  @frozen public struct AssertNoFailure<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = Never

    public let upstream: Upstream
    public let prefix: String
    public let file: StaticString
    public let line: UInt

    @inlinable public init(upstream: Upstream, prefix: String, file: StaticString, line: UInt) {
      self.upstream = upstream
      self.prefix = prefix
      self.file = file
      self.line = line
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      if S.isFused {
        upstream.receive(subscriber: AssertNoFailureStage(subscriber.erased, self))
      } else {
        upstream.receive(subscriber: AssertNoFailureStage(subscriber, self))
      }
    }

    @inline(never) @usableFromInline func trap(_ error: Upstream.Failure) -> Never {
      StreamDiagnostics.unhandled(error, "AssertNoFailure")
      let start = prefix.isEmpty ? "" : "\(prefix): "
      let places = StreamDiagnostics.passed.map { ", checkpoint \($0)" }.joined()
      fatalError(
        "\(start)assertNoFailure\(places): the stream failed with \(error); handle the error with catch or replaceError",
        file: file, line: line)
    }
  }
}

@frozen @usableFromInline
struct AssertNoFailureStage<Upstream: Publisher, Downstream: Subscriber<Upstream.Output, Never>>: FusedStage {
  @usableFromInline typealias Failure = Upstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let assertion: Publishers.AssertNoFailure<Upstream>

  @inlinable init(_ downstream: Downstream, _ assertion: Publishers.AssertNoFailure<Upstream>) {
    self.downstream = downstream
    self.assertion = assertion
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(input) }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    if case .failure(let error) = completion { assertion.trap(error) }
    downstream.receive(completion: .finished)
  }
}
