extension Publisher {
  /// Delivers the result of combining all values, or `initialResult` if there are none, when upstream finishes.
  ///
  ///     upstream    --1--2--3--|
  ///     reduce(0, +)
  ///     downstream  -----------6|
  ///
  /// ![reduce(0, +)](marbles-reduce.svg)
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// result. **Cancellation:** passes through. **Policy:** keeps the result so far.
  @inlinable public func reduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) -> T
  ) -> Publishers.Reduce<Self, T> {
    Publishers.Reduce(upstream: self, initial: initialResult, nextPartialResult: nextPartialResult)
  }

  /// Delivers the result that `updateResult` builds in place from all values, or `initialResult` if there are none.
  ///
  ///     upstream    --1--2--3--|
  ///     reduce(into: []) { $0.append($1) }
  ///     downstream  -----------[1,2,3]|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// result. **Cancellation:** passes through. **Policy:** keeps the result so far.
  @inlinable public func reduce<T>(
    into initialResult: T, _ updateResult: @escaping (inout T, Output) -> Void
  ) -> Publishers.ReduceInto<Self, T> {
    Publishers.ReduceInto(upstream: self, initial: initialResult, updateResult: updateResult)
  }

  /// Delivers the result of combining all values, when upstream finishes; fails with the first error that the closure
  /// throws.
  ///
  ///     upstream    --1--2--x--|
  ///     tryReduce(0) { try add($0, $1) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// keeps the result so far.
  @inlinable public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) throws -> T
  ) -> Publishers.TryReduce<Self, T> {
    Publishers.TryReduce(upstream: self, initial: initialResult, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// See ``Publisher/reduce(_:_:)``.
  public typealias Reduce<Upstream: Publisher, Output> = Reducing<Upstream, Output, NonThrowing<Upstream.Failure>>
  /// See ``Publisher/tryReduce(_:_:)``.
  public typealias TryReduce<Upstream: Publisher, Output> = Reducing<Upstream, Output, Throwing<Upstream.Failure>>

  /// The type that ``Reduce`` and ``TryReduce`` share.
  @frozen public struct Reducing<Upstream: Publisher, Output, Mode: FailureMode<Upstream.Failure>>: Operator {
    public typealias Failure = Mode.Failure
    public typealias Combine = (Output, Upstream.Output) throws(Mode.RuleError) -> Output

    public let upstream: Upstream
    public let initial: Output
    public let nextPartialResult: Combine

    @inlinable public init(upstream: Upstream, initial: Output, nextPartialResult: @escaping Combine) {
      self.upstream = upstream
      self.initial = initial
      self.nextPartialResult = nextPartialResult
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Upstream.Output, Output, Mode>("Reduce", ErasedSubscriber(subscriber), initial) {
          [nextPartialResult] (result: inout Output?, value: Upstream.Output) throws(Mode.RuleError) in
          result = try nextPartialResult(result!, value)
          return false
        })
    }
  }

  /// See ``Publisher/reduce(into:_:)``.
  @frozen public struct ReduceInto<Upstream: Publisher, Output>: Operator {
    public let upstream: Upstream
    public let initial: Output
    public let updateResult: (inout Output, Upstream.Output) -> Void

    @inlinable public init(
      upstream: Upstream, initial: Output, updateResult: @escaping (inout Output, Upstream.Output) -> Void
    ) {
      self.upstream = upstream
      self.initial = initial
      self.updateResult = updateResult
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Upstream.Output, Output, NonThrowing<Failure>>(
          "ReduceInto", ErasedSubscriber(subscriber), initial
        ) { [updateResult] result, value in
          updateResult(&result!, value)
          return false
        })
    }
  }
}
