extension Publisher {
  /// Delivers the result of combining all values, beginning with the first, when upstream finishes; delivers nothing if
  /// there are none.
  ///
  ///     upstream    --1--2--3--|
  ///     reduce(+)
  ///     downstream  -----------6|
  ///
  /// This is `reduce(_:_:)` without an initial result: a single value becomes the result unchanged. **Demand:**
  /// requests everything from upstream; the result waits for demand. **Failure:** passes through, without a result.
  /// **Cancellation:** passes through. **Policy:** keeps the result so far.
  @inlinable public func reduce(
    _ nextPartialResult: @escaping (Output, Output) -> Output
  ) -> Publishers.ReduceFromFirst<Self> {
    Publishers.ReduceFromFirst(upstream: self, nextPartialResult: nextPartialResult)
  }

  /// Delivers the result of combining all values, beginning with the first, when upstream finishes; fails with the
  /// first error that the closure throws.
  ///
  ///     upstream    --1--2--x--|
  ///     tryReduce { try add($0, $1) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// keeps the result so far.
  @inlinable public func tryReduce(
    _ nextPartialResult: @escaping (Output, Output) throws -> Output
  ) -> Publishers.TryReduceFromFirst<Self> {
    Publishers.TryReduceFromFirst(upstream: self, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// See ``Publisher/reduce(_:)``.
  public typealias ReduceFromFirst<Upstream: Publisher> = ReducingFromFirst<Upstream, NonThrowing<Upstream.Failure>>
  /// See ``Publisher/tryReduce(_:)``.
  public typealias TryReduceFromFirst<Upstream: Publisher> = ReducingFromFirst<Upstream, Throwing<Upstream.Failure>>

  /// The type that ``ReduceFromFirst`` and ``TryReduceFromFirst`` share.
  @frozen public struct ReducingFromFirst<Upstream: Publisher, Mode: FailureMode<Upstream.Failure>>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = Mode.Failure
    public typealias Combine = (Output, Output) throws(Mode.RuleError) -> Output

    public let upstream: Upstream
    public let nextPartialResult: Combine

    @inlinable public init(upstream: Upstream, nextPartialResult: @escaping Combine) {
      self.upstream = upstream
      self.nextPartialResult = nextPartialResult
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Output, Output, Mode>("Reduce", ErasedSubscriber(subscriber), nil) {
          [nextPartialResult] (result: inout Output?, value: Output) throws(Mode.RuleError) in
          if let last = result { result = try nextPartialResult(last, value) } else { result = value }
          return false
        })
    }
  }
}
