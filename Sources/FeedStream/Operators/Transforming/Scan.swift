extension Publisher {
  /// Combines the values one after another, starting with `initialResult`, and delivers every intermediate result.
  ///
  ///     upstream    --1--2--3--|
  ///     scan(0, +)
  ///     downstream  --1--3--6--|
  ///
  /// ![scan(0, +)](marbles-scan.svg)
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func scan<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) -> T
  ) -> Publishers.Scan<Self, T> {
    Publishers.Scan(upstream: self, initialResult: initialResult, nextPartialResult: nextPartialResult)
  }

  /// Combines the values one after another, delivers every intermediate result, and fails with the first error that the
  /// closure throws.
  ///
  ///     upstream    --1--2--x--|
  ///     tryScan(0) { try add($0, $1) }   (throws on x)
  ///     downstream  --1--3--#
  ///
  /// **Demand, cancellation:** pass through. **Failure:** a thrown error cancels upstream; upstream's own failure
  /// passes through. **Policy:** forwards.
  @inlinable public func tryScan<T>(
    _ initialResult: T, _ nextPartialResult: @escaping (T, Output) throws -> T
  ) -> Publishers.TryScan<Self, T> {
    Publishers.TryScan(upstream: self, initialResult: initialResult, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// See ``Publisher/scan(_:_:)``.
  @frozen public struct Scan<Upstream: Publisher, Output>: Operator {
    public let upstream: Upstream
    public let initialResult: Output
    public let nextPartialResult: (Output, Upstream.Output) -> Output

    @inlinable public init(
      upstream: Upstream, initialResult: Output, nextPartialResult: @escaping (Output, Upstream.Output) -> Output
    ) {
      self.upstream = upstream
      self.initialResult = initialResult
      self.nextPartialResult = nextPartialResult
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let result = Box(initialResult)
      if S.isFused {
        upstream.receive(subscriber: ScanStage(subscriber.erased, result, nextPartialResult))
      } else {
        upstream.receive(subscriber: ScanStage(subscriber, result, nextPartialResult))
      }
    }
  }

  /// See ``Publisher/tryScan(_:_:)``.
  @frozen public struct TryScan<Upstream: Publisher, Output>: Operator {
    public typealias Failure = any Error

    public let upstream: Upstream
    public let initialResult: Output
    public let nextPartialResult: (Output, Upstream.Output) throws -> Output

    @inlinable public init(
      upstream: Upstream, initialResult: Output,
      nextPartialResult: @escaping (Output, Upstream.Output) throws -> Output
    ) {
      self.upstream = upstream
      self.initialResult = initialResult
      self.nextPartialResult = nextPartialResult
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = ErasedSubscriber(subscriber)
      let result = Box(initialResult)
      upstream.receive(
        stage: TryStage<Upstream.Output, Upstream.Failure, Output>("TryScan", down) {
          [nextPartialResult] in
          let next = try nextPartialResult(result.value, $0)
          let old = exchange(&result.value, with: next)
          let more = down.receive(next)
          discard(old)
          return more
        })
    }
  }
}

@frozen @usableFromInline struct ScanStage<Input, Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let result: Box<Downstream.Input>
  @usableFromInline let combine: (Downstream.Input, Input) -> Downstream.Input

  @inlinable init(
    _ downstream: Downstream, _ result: Box<Downstream.Input>,
    _ combine: @escaping (Downstream.Input, Input) -> Downstream.Input
  ) {
    self.downstream = downstream
    self.result = result
    self.combine = combine
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    let next = combine(result.value, input)
    let old = exchange(&result.value, with: next)
    let more = downstream.receive(next)
    discard(old)
    return more
  }
}
