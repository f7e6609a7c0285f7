extension Publisher {
  /// Continues with another publisher when this one finishes without a value.
  ///
  ///     upstream    -----|
  ///     other            --1--2|
  ///     switchIfEmpty(other)
  ///     downstream  -------1--2|
  ///
  /// ![switchIfEmpty(other)](marbles-switchIfEmpty.svg)
  ///
  /// **Demand:** the outstanding demand passes to the other publisher. **Failure:** passes through; the other publisher
  /// follows only if this one finishes without a value. **Cancellation:** cancels the running publisher. **Policy:**
  /// forwards.
  @inlinable public func switchIfEmpty<P: Publisher<Output, Failure>>(_ other: P) -> Publishers.SwitchIfEmpty<Self, P> {
    Publishers.SwitchIfEmpty(upstream: self, other: other)
  }

  /// `switchIfEmpty` with a publisher that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/switchIfEmpty(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func switchIfEmpty<P: Publisher<Output, Never>>(
    _ other: P
  ) -> Publishers.SwitchIfEmpty<Self, Publishers.SetFailureType<P, Failure>> {
    switchIfEmpty(other.setFailureType(to: Failure.self))
  }
}

extension Publisher where Failure == Never {
  /// `switchIfEmpty` for a stream that cannot fail and a publisher that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/switchIfEmpty(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func switchIfEmpty<P: Publisher>(
    _ other: P
  ) -> Publishers.SwitchIfEmpty<Publishers.SetFailureType<Self, P.Failure>, P> where P.Output == Output {
    setFailureType(to: P.Failure.self).switchIfEmpty(other)
  }
}

extension Publishers {
  /// See ``Publisher/switchIfEmpty(_:)``.
  @frozen
  public struct SwitchIfEmpty<Upstream: Publisher, Other: Publisher<Upstream.Output, Upstream.Failure>>: Operator,
    _JoinsPublishers
  {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let other: Other

    @inlinable public init(upstream: Upstream, other: Other) {
      self.upstream = upstream
      self.other = other
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = ConcatenateStage<Output, Failure>("SwitchIfEmpty", ErasedSubscriber(subscriber), onlyIfEmpty: true) {
        [other] in
        other.receive(subscriber: $0)
      }
      stage.subscribe { [upstream] in upstream.receive(subscriber: $0) }
    }
  }
}

extension Publishers.SwitchIfEmpty: Equatable where Upstream: Equatable, Other: Equatable {}
