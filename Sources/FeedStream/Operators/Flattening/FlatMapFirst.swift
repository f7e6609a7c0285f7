extension Publisher {
  /// Makes a publisher of a value and delivers what it delivers; values that arrive meanwhile are dropped.
  ///
  ///     upstream    --a----b----c------|
  ///     flatMapFirst { Timer… }
  ///       a           --1----2--|
  ///       c                     --4--5|
  ///     downstream  ----1----2----4--5|
  ///
  /// Finishes when upstream and the publisher that runs have. **Demand:** upstream is asked for everything; what one
  /// publisher left unused is asked of the next. **Failure:** the first, upstream's or the publisher's.
  /// **Cancellation:** cancels both. Policy: drops a value that arrives while a publisher runs, and reports it to
  /// ``StreamDiagnostics/onDrop(_:)``.
  @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<P, Self> where P.Failure == Failure {
    Publishers.FlatMapFirst(upstream: self, transform: transform)
  }

  /// Makes a publisher that cannot fail of a value, dropping the values that arrive meanwhile.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapFirst(_:)` where both may fail.
  @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<Publishers.SetFailureType<P, Failure>, Self> where P.Failure == Never {
    flatMapFirst { transform($0).setFailureType(to: Failure.self) }
  }
}

extension Publisher where Failure == Never {
  /// Makes a publisher that may fail of a value of a stream that cannot, dropping the values that arrive meanwhile.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapFirst(_:)` where both may fail.
  @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<P, Publishers.SetFailureType<Self, P.Failure>> {
    setFailureType(to: P.Failure.self).flatMapFirst(transform)
  }

  /// Makes a publisher of a value, dropping the values that arrive meanwhile, where nothing can fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapFirst(_:)` where both may fail.
  @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<P, Self> where P.Failure == Never {
    Publishers.FlatMapFirst(upstream: self, transform: transform)
  }
}

extension Publishers {
  /// See `flatMapFirst(_:)`.
  @frozen public struct FlatMapFirst<NewPublisher: Publisher, Upstream: Publisher>: Publisher
  where NewPublisher.Failure == Upstream.Failure {
    public typealias Output = NewPublisher.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let transform: (Upstream.Output) -> NewPublisher

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> NewPublisher) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.flatten("FlatMapFirst", .isDropped, into: subscriber, transform)
    }
  }
}
