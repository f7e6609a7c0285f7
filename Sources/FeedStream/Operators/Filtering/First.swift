extension Publisher {
  /// Delivers the first value, then finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     first()
  ///     downstream  --a|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through.
  /// **Cancellation:** passes through. Policy: keeps one value; cancels upstream with it.
  @inlinable
  public func first() -> Publishers.First<Self> { Publishers.First(upstream: self) }

  /// Delivers the first value for which `predicate` holds, then finishes.
  ///
  ///     upstream    --1--2--3--|
  ///     first(where: isEven)
  ///     downstream  -----2|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through.
  /// **Cancellation:** passes through. Policy: keeps one value; drops those before it.
  @inlinable
  public func first(where predicate: @escaping (Output) -> Bool) -> Publishers.FirstWhere<Self> {
    Publishers.FirstWhere(upstream: self, predicate: predicate)
  }

  /// Delivers the first value for which `predicate` holds, and fails with the first error it throws.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** an error thrown cancels upstream.
  /// **Cancellation:** passes through. Policy: keeps one value; drops those before it.
  @inlinable
  public func tryFirst(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryFirstWhere<Self> {
    Publishers.TryFirstWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/first()``.
  @frozen
  public struct First<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream

    @inlinable
    public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Failure, Never, Output, Failure>(
          "First", Downstream(subscriber), .passing, nil
        ) { first, value in
          first = value
          return true
        })
    }
  }

  /// See ``Publisher/first(where:)``.
  @frozen
  public struct FirstWhere<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let predicate: (Upstream.Output) -> Bool

    @inlinable
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      // The name Combine shows.
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Failure, Never, Output, Failure>(
          "TryFirst", Downstream(subscriber), .passing, nil
        ) { [predicate] first, value in
          guard predicate(value) else { return false }
          first = value
          return true
        })
    }
  }

  /// See ``Publisher/tryFirst(where:)``.
  @frozen
  public struct TryFirstWhere<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let predicate: (Upstream.Output) throws -> Bool

    @inlinable
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Upstream.Failure, any Error, Output, any Error>(
          "TryFirstWhere", Downstream(subscriber), .throwing, nil
        ) { [predicate] first, value in
          guard try predicate(value) else { return false }
          first = value
          return true
        })
    }
  }
}

extension Publishers.First: Equatable where Upstream: Equatable {}
