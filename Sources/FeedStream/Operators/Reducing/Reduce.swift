extension Publisher {
  /// Delivers the result of combining all values, when upstream finishes; `initialResult` if there are none.
  ///
  ///     upstream    --1--2--3--|
  ///     reduce(0, +)
  ///     downstream  -----------6|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a result.
  /// **Cancellation:** passes through. Policy: keeps the result so far.
  @inlinable
  public func reduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) -> T
  ) -> Publishers.Reduce<Self, T> {
    Publishers.Reduce(upstream: self, initial: initialResult, nextPartialResult: nextPartialResult)
  }

  /// Delivers the result of taking all values into account, changed in place; `initialResult` if there are none.
  ///
  ///     upstream    --1--2--3--|
  ///     reduce(into: []) { $0.append($1) }
  ///     downstream  -----------[1,2,3]|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a result.
  /// **Cancellation:** passes through. Policy: keeps the result so far.
  @inlinable
  public func reduce<T>(
    into initialResult: T, _ updateResult: @escaping (inout T, Output) -> Void
  ) -> Publishers.ReduceInto<Self, T> {
    Publishers.ReduceInto(upstream: self, initial: initialResult, updateResult: updateResult)
  }

  /// Delivers the result of combining all values, and fails with the first error that combining throws.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** an error thrown cancels upstream.
  /// **Cancellation:** passes through. Policy: keeps the result so far.
  @inlinable
  public func tryReduce<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) throws -> T
  ) -> Publishers.TryReduce<Self, T> {
    Publishers.TryReduce(upstream: self, initial: initialResult, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// See ``Publisher/reduce(_:_:)``.
  @frozen
  public struct Reduce<Upstream: Publisher, Output>: Publisher {
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let initial: Output
    public let nextPartialResult: (Output, Upstream.Output) -> Output

    @inlinable
    public init(upstream: Upstream, initial: Output, nextPartialResult: @escaping (Output, Upstream.Output) -> Output) {
      self.upstream = upstream
      self.initial = initial
      self.nextPartialResult = nextPartialResult
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Failure, Never, Output, Failure>(
          "Reduce", Downstream(subscriber), .passing, initial
        ) { [nextPartialResult] result, value in
          result = nextPartialResult(result!, value)
          return false
        })
    }
  }

  /// See ``Publisher/reduce(into:_:)``.
  @frozen
  public struct ReduceInto<Upstream: Publisher, Output>: Publisher {
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let initial: Output
    public let updateResult: (inout Output, Upstream.Output) -> Void

    @inlinable
    public init(
      upstream: Upstream, initial: Output, updateResult: @escaping (inout Output, Upstream.Output) -> Void
    ) {
      self.upstream = upstream
      self.initial = initial
      self.updateResult = updateResult
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Failure, Never, Output, Failure>(
          "ReduceInto", Downstream(subscriber), .passing, initial
        ) { [updateResult] result, value in
          updateResult(&result!, value)
          return false
        })
    }
  }

  /// See ``Publisher/tryReduce(_:_:)``.
  @frozen
  public struct TryReduce<Upstream: Publisher, Output>: Publisher {
    public typealias Failure = any Error

    public let upstream: Upstream
    public let initial: Output
    public let nextPartialResult: (Output, Upstream.Output) throws -> Output

    @inlinable
    public init(
      upstream: Upstream, initial: Output, nextPartialResult: @escaping (Output, Upstream.Output) throws -> Output
    ) {
      self.upstream = upstream
      self.initial = initial
      self.nextPartialResult = nextPartialResult
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Upstream.Failure, any Error, Output, any Error>(
          "TryReduce", Downstream(subscriber), .throwing, initial
        ) { [nextPartialResult] result, value in
          result = try nextPartialResult(result!, value)
          return false
        })
    }
  }
}
