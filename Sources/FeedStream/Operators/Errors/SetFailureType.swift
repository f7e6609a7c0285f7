extension Publisher where Failure == Never {
  /// Declares a failure type for a stream that cannot fail, so that it can be combined with one that can.
  ///
  ///     upstream    --a--b--|       (failure type Never)
  ///     setFailureType(to: MyError.self)
  ///     downstream  --a--b--|       (failure type MyError)
  ///
  /// **Demand, cancellation:** pass through. **Failure:** never. **Policy:** forwards.
  @inlinable public func setFailureType<E: Error>(to failureType: E.Type) -> Publishers.SetFailureType<Self, E> {
    Publishers.SetFailureType(upstream: self)
  }
}

extension Publishers {
  /// See ``Publisher/setFailureType(to:)``.
  @frozen public struct SetFailureType<Upstream: Publisher, Failure: Error>: Operator where Upstream.Failure == Never {
    public typealias Output = Upstream.Output

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFused {
        upstream.receive(subscriber: SetFailureTypeStage(subscriber.erased))
      } else {
        upstream.receive(subscriber: SetFailureTypeStage(subscriber))
      }
    }

    @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool { upstream._deliverAll(to: deliver) }

    /// Like `setFailureType(to:)` on other publishers, but replaces this operator.
    @inlinable public func setFailureType<E: Error>(to failure: E.Type) -> Publishers.SetFailureType<Upstream, E> {
      Publishers.SetFailureType<Upstream, E>(upstream: upstream)
    }
  }
}

extension Publishers.SetFailureType: Equatable where Upstream: Equatable {}

@frozen @usableFromInline struct SetFailureTypeStage<Downstream: Subscriber>: FusedStage {
  @usableFromInline typealias Failure = Never

  @usableFromInline let downstream: Downstream

  @inlinable init(_ downstream: Downstream) { self.downstream = downstream }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(input) }

  @inlinable func receive(completion: Subscribers.Completion<Never>) { downstream.receive(completion: .finished) }
}
