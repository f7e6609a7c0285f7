extension Publisher {
  /// Delivers the results of `transform` that are not `nil`.
  ///
  ///     upstream    --"1"--"x"--"3"--|
  ///     compactMap(Int.init)
  ///     downstream  --1---------3----|
  ///
  /// ![compactMap { Int($0) }](marbles-compactMap.svg)
  ///
  /// **Demand:** requests one more value for each one left out. **Failure, cancellation:** pass through. **Policy:**
  /// forwards; leaves out `nil`, by design.
  @inlinable public func compactMap<T>(_ transform: @escaping (Output) -> T?) -> Publishers.CompactMap<Self, T> {
    Publishers.CompactMap(upstream: self, transform: transform)
  }

  /// Delivers the results of `transform` that are not `nil`, and fails with the first error that `transform` throws.
  ///
  ///     upstream    --"1"--"x"--"?"--"3"--|
  ///     tryCompactMap { try parse($0) }   (throws on "?")
  ///     downstream  --1---------#
  ///
  /// **Demand:** requests one more value for each one left out. **Failure:** a thrown error cancels upstream;
  /// upstream's own failure passes through. **Cancellation:** passes through. **Policy:** forwards; leaves out `nil`,
  /// by design.
  @inlinable
  public func tryCompactMap<T>(_ transform: @escaping (Output) throws -> T?) -> Publishers.TryCompactMap<Self, T> {
    Publishers.TryCompactMap(upstream: self, transform: transform)
  }
}

extension Publishers {
  /// See ``Publisher/compactMap(_:)``.
  @frozen public struct CompactMap<Upstream: Publisher, Output>: Operator {
    public let upstream: Upstream
    public let transform: (Upstream.Output) -> Output?

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output?) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFullyFused {
        upstream.receive(subscriber: CompactMapStage(subscriber.erased, transform))
      } else {
        upstream.receive(subscriber: CompactMapStage(subscriber, transform))
      }
    }
  }

  /// See ``Publisher/tryCompactMap(_:)``.
  @frozen public struct TryCompactMap<Upstream: Publisher, Output>: Operator {
    public typealias Failure = any Error

    public let upstream: Upstream
    public let transform: (Upstream.Output) throws -> Output?

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) throws -> Output?) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = ErasedSubscriber(subscriber)
      upstream.receive(
        stage: TryStage<Upstream.Output, Upstream.Failure, Output>("TryCompactMap", strays: .earlyTraps, down) {
          [transform] in
          if let output = try transform($0) { down.receive(output) } else { .max(1) }
        })
    }
  }
}

extension Publishers.CompactMap {
  /// Like `compactMap(_:)` on other publishers, but fused with this operator.
  @inlinable public func compactMap<T>(_ transform: @escaping (Output) -> T?) -> Publishers.CompactMap<Upstream, T> {
    Publishers.CompactMap<Upstream, T>(upstream: upstream) { [first = self.transform] in first($0).flatMap(transform) }
  }

  /// Like `map(_:)` on other publishers, but fused with this operator.
  @inlinable public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.CompactMap<Upstream, T> {
    Publishers.CompactMap<Upstream, T>(upstream: upstream) { [first = self.transform] in first($0).map(transform) }
  }
}

extension Publishers.TryCompactMap {
  /// Like `compactMap(_:)` on other publishers, but fused with this operator.
  @inlinable
  public func compactMap<T>(_ transform: @escaping (Output) throws -> T?) -> Publishers.TryCompactMap<Upstream, T> {
    Publishers.TryCompactMap<Upstream, T>(upstream: upstream) { [first = self.transform] in
      try first($0).flatMap(transform)
    }
  }
}

@frozen @usableFromInline struct CompactMapStage<Input, Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let transform: (Input) -> Downstream.Input?

  @inlinable init(_ downstream: Downstream, _ transform: @escaping (Input) -> Downstream.Input?) {
    self.downstream = downstream
    self.transform = transform
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if let output = transform(input) { downstream.receive(output) } else { .max(1) }
  }
}
