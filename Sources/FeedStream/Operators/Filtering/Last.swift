extension Publisher {
  /// Delivers the last value, when upstream finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     last()
  ///     downstream  -----------c|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a value.
  /// **Cancellation:** passes through. Policy: keeps one value; drops the others.
  @inlinable
  public func last() -> Publishers.Last<Self> { Publishers.Last(upstream: self) }

  /// Delivers the last value for which `predicate` holds, when upstream finishes.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a value.
  /// **Cancellation:** passes through. Policy: keeps one value; drops the others.
  @inlinable
  public func last(where predicate: @escaping (Output) -> Bool) -> Publishers.LastWhere<Self> {
    Publishers.LastWhere(upstream: self, predicate: predicate)
  }

  /// Delivers the last value for which `predicate` holds, and fails with the first error it throws.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** an error thrown cancels upstream.
  /// **Cancellation:** passes through. Policy: keeps one value; drops the others.
  @inlinable
  public func tryLast(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryLastWhere<Self> {
    Publishers.TryLastWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/last()``.
  @frozen
  public struct Last<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream

    @inlinable
    public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Failure, Never, Output, Failure>(
          "Last", Downstream(subscriber), .passing, nil
        ) { last, value in
          last = value
          return false
        })
    }
  }

  /// See ``Publisher/last(where:)``.
  @frozen
  public struct LastWhere<Upstream: Publisher>: Publisher {
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
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Failure, Never, Output, Failure>(
          "LastWhere", Downstream(subscriber), .passing, nil
        ) { [predicate] last, value in
          if predicate(value) { last = value }
          return false
        })
    }
  }

  /// See ``Publisher/tryLast(where:)``.
  @frozen
  public struct TryLastWhere<Upstream: Publisher>: Publisher {
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
          "TryLastWhere", Downstream(subscriber), .throwing, nil
        ) { [predicate] last, value in
          if try predicate(value) { last = value }
          return false
        })
    }
  }
}

extension Publishers.Last: Equatable where Upstream: Equatable {}
