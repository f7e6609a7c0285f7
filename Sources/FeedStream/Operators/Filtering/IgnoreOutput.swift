extension Publisher {
  /// Delivers the completion and nothing else.
  ///
  ///     upstream    --a--b--|
  ///     ignoreOutput()
  ///     downstream  --------|
  ///
  /// **Demand:** requests everything from upstream. **Failure, cancellation:** pass through. **Policy:** drops every
  /// value.
  @inlinable public func ignoreOutput() -> Publishers.IgnoreOutput<Self> { Publishers.IgnoreOutput(upstream: self) }
}

extension Publisher where Output == Never {
  /// Declares an output type for a stream that delivers no values, so that it can be combined with one that does.
  ///
  ///     request.write(to: connection).setOutputType(to: Chunk.self).merge(with: answers)
  ///
  ///     upstream    --------|    (output type Never)
  ///     setOutputType(to: String.self)
  ///     downstream  --------|    (output type String)
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func setOutputType<T>(to outputType: T.Type) -> Publishers.Map<Self, T> {
    map { (_: Never) -> T in }
  }
}

extension Publishers {
  /// See ``Publisher/ignoreOutput()``.
  @frozen public struct IgnoreOutput<Upstream: Publisher>: Operator {
    public typealias Output = Never

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Never, S.Failure == Failure {
      if S.isFused {
        upstream.receive(subscriber: IgnoreOutputStage<Upstream.Output, _>(subscriber.erased))
      } else {
        upstream.receive(subscriber: IgnoreOutputStage<Upstream.Output, _>(subscriber))
      }
    }
  }
}

extension Publishers.IgnoreOutput: Equatable where Upstream: Equatable {}

@frozen @usableFromInline struct IgnoreOutputStage<Input, Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream

  @inlinable init(_ downstream: Downstream) { self.downstream = downstream }

  @inlinable func receive(subscription: any Subscription) {
    downstream.receive(subscription: subscription)
    subscription.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { .none }
}
