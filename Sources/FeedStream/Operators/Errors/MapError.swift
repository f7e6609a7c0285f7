extension Publisher {
  /// Replaces the failure with the result of `transform`.
  ///
  ///     upstream    --a--b--#    (x)
  ///     mapError(MyError.init)
  ///     downstream  --a--b--#    (MyError(x))
  ///
  /// **Demand, failure, cancellation:** pass through, with the failure transformed. **Policy:** forwards.
  @inlinable public func mapError<E: Error>(_ transform: @escaping (Failure) -> E) -> Publishers.MapError<Self, E> {
    Publishers.MapError(upstream: self, transform)
  }

  /// Erases the failure type, so that the stream can be combined with streams that have other failure types.
  ///
  ///     folder.entries(on: loop).eraseFailureType().flatMap { File($0.path).bytes(on: loop).lines() }
  ///
  ///     upstream    --a--b--#    (failure type SystemError)
  ///     eraseFailureType()
  ///     downstream  --a--b--#    (failure type any Error)
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func eraseFailureType() -> Publishers.MapError<Self, any Error> { mapError { $0 } }
}

extension Publishers {
  /// See ``Publisher/mapError(_:)``.
  @frozen public struct MapError<Upstream: Publisher, Failure: Error>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let transform: (Upstream.Failure) -> Failure

    // Disfavored, because a trailing closure fits the other initializer, too. Combine has both.
    @_disfavoredOverload
    @inlinable public init(upstream: Upstream, _ map: @escaping (Upstream.Failure) -> Failure) {
      self.init(upstream: upstream, transform: map)
    }

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Failure) -> Failure) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFused {
        upstream.receive(subscriber: MapErrorStage(subscriber.erased, transform))
      } else {
        upstream.receive(subscriber: MapErrorStage(subscriber, transform))
      }
    }
  }
}

@frozen @usableFromInline struct MapErrorStage<Failure: Error, Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let transform: (Failure) -> Downstream.Failure

  @inlinable init(_ downstream: Downstream, _ transform: @escaping (Failure) -> Downstream.Failure) {
    self.downstream = downstream
    self.transform = transform
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(input) }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    downstream.receive(completion: completion.mapError(transform))
  }
}
