extension Publisher {
  /// Delivers the result of `transform` for each value.
  ///
  ///     upstream    --1--2--3--|
  ///     map { $0 * 10 }
  ///     downstream  --10-20-30-|
  ///
  /// ![map { $0 * 10 }](marbles-map.svg)
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Self, T> {
    Publishers.Map(upstream: self, transform: transform)
  }

  /// Delivers the result of `transform` for each value, and fails with the first error that `transform` throws.
  ///
  ///     upstream    --1--2--3--|
  ///     tryMap { try parse($0) }   (throws on 3)
  ///     downstream  --a--b--#
  ///
  /// **Demand, cancellation:** pass through. **Failure:** a thrown error cancels upstream; upstream's own failure
  /// passes through. **Policy:** forwards.
  @inlinable public func tryMap<T>(_ transform: @escaping (Output) throws -> T) -> Publishers.TryMap<Self, T> {
    Publishers.TryMap(upstream: self, transform: transform)
  }

  /// Replaces each `nil` with `value`.
  ///
  ///     upstream    --1--nil--3--|
  ///     replaceNil(with: 0)
  ///     downstream  --1--0----3--|
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func replaceNil<T>(with value: T) -> Publishers.Map<Self, T> where Output == T? {
    map { $0 ?? value }
  }
}

extension Publishers {
  /// See `map(_:)`.
  @frozen public struct Map<Upstream: Publisher, Output>: Operator {
    public let upstream: Upstream
    public let transform: (Upstream.Output) -> Output

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFullyFused {
        upstream.receive(subscriber: MapStage(subscriber.erased, transform))
      } else {
        upstream.receive(subscriber: MapStage(subscriber, transform))
      }
    }
  }

  /// See ``Publisher/tryMap(_:)``.
  @frozen public struct TryMap<Upstream: Publisher, Output>: Operator {
    public typealias Failure = any Error

    public let upstream: Upstream
    public let transform: (Upstream.Output) throws -> Output

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) throws -> Output) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = ErasedSubscriber(subscriber)
      upstream.receive(
        stage: TryStage<Upstream.Output, Upstream.Failure, Output>("TryMap", strays: .valuesAndErrorsPass, down) {
          [transform] in
          down.receive(try transform($0))
        })
    }
  }
}

// Fused operators form one map with a composed closure instead of nesting.

extension Publishers.Map {
  /// Like `map(_:)` on other publishers, but fused with this operator.
  @inlinable public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Upstream, T> {
    Publishers.Map<Upstream, T>(upstream: upstream) { [first = self.transform] in transform(first($0)) }
  }

  /// Like `tryMap(_:)` on other publishers, but fused with this operator.
  @inlinable public func tryMap<T>(_ transform: @escaping (Output) throws -> T) -> Publishers.TryMap<Upstream, T> {
    Publishers.TryMap(upstream: upstream) { [first = self.transform] in try transform(first($0)) }
  }
}

extension Publishers.TryMap {
  /// Like `map(_:)` on other publishers, but fused with this operator.
  @inlinable
  public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.TryMap<Upstream, T> { tryMap(transform) }

  /// Like `tryMap(_:)` on other publishers, but fused with this operator.
  @inlinable public func tryMap<T>(_ transform: @escaping (Output) throws -> T) -> Publishers.TryMap<Upstream, T> {
    Publishers.TryMap<Upstream, T>(upstream: upstream) { [first = self.transform] in try transform(first($0)) }
  }
}

@frozen @usableFromInline struct MapStage<Input, Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let transform: (Input) -> Downstream.Input

  @inlinable init(_ downstream: Downstream, _ transform: @escaping (Input) -> Downstream.Input) {
    self.downstream = downstream
    self.transform = transform
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(transform(input)) }
}
