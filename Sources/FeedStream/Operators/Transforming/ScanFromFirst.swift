extension Publisher {
  /// Delivers the first value, and then, for each further value, the result of combining it with the result so far.
  ///
  ///     upstream    --1--2--3--|
  ///     scan(+)
  ///     downstream  --1--3--6--|
  ///
  /// This is `scan(_:_:)` without an initial result: the first value passes unchanged. **Demand, failure,
  /// cancellation:** pass through. **Policy:** forwards.
  @inlinable public func scan(
    _ nextPartialResult: @escaping (Output, Output) -> Output
  ) -> Publishers.ScanFromFirst<Self> {
    Publishers.ScanFromFirst(upstream: self, nextPartialResult: nextPartialResult)
  }

  /// Delivers the first value, and then, for each further value, the result of combining it with the result so far;
  /// fails with the first error that the closure throws.
  ///
  ///     upstream    --1--2--x--|
  ///     tryScan { try add($0, $1) }   (throws on x)
  ///     downstream  --1--3--#
  ///
  /// **Demand, cancellation:** pass through. **Failure:** a thrown error cancels upstream; upstream's own failure
  /// passes through. **Policy:** forwards.
  @inlinable public func tryScan(
    _ nextPartialResult: @escaping (Output, Output) throws -> Output
  ) -> Publishers.TryScanFromFirst<Self> {
    Publishers.TryScanFromFirst(upstream: self, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// See ``Publisher/scan(_:)``.
  @frozen public struct ScanFromFirst<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let nextPartialResult: (Output, Output) -> Output

    @inlinable public init(upstream: Upstream, nextPartialResult: @escaping (Output, Output) -> Output) {
      self.upstream = upstream
      self.nextPartialResult = nextPartialResult
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFused {
        upstream.receive(subscriber: ScanFromFirstStage(subscriber.erased, nextPartialResult))
      } else {
        upstream.receive(subscriber: ScanFromFirstStage(subscriber, nextPartialResult))
      }
    }
  }

  /// See ``Publisher/tryScan(_:)``.
  @frozen public struct TryScanFromFirst<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let nextPartialResult: (Output, Output) throws -> Output

    @inlinable public init(upstream: Upstream, nextPartialResult: @escaping (Output, Output) throws -> Output) {
      self.upstream = upstream
      self.nextPartialResult = nextPartialResult
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = ErasedSubscriber(subscriber)
      let result = Box<Output?>(nil)
      upstream.receive(
        stage: TryStage<Output, Upstream.Failure, Output>("TryScan", down) { [nextPartialResult] value in
          let next = if let last = result.value { try nextPartialResult(last, value) } else { value }
          let old = exchange(&result.value, with: next)
          let more = down.receive(next)
          discard(old)
          return more
        })
    }
  }
}

@frozen @usableFromInline struct ScanFromFirstStage<Downstream: Subscriber>: FusedStage {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let result = Box<Input?>(nil)
  @usableFromInline let combine: (Input, Input) -> Input

  @inlinable init(_ downstream: Downstream, _ combine: @escaping (Input, Input) -> Input) {
    self.downstream = downstream
    self.combine = combine
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    let next = if let last = result.value { combine(last, input) } else { input }
    let old = exchange(&result.value, with: next)
    let more = downstream.receive(next)
    discard(old)
    return more
  }
}
