extension Publisher {
  /// Delivers the first value, then finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     first()
  ///     downstream  --a|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through.
  /// **Cancellation:** passes through. **Policy:** keeps one value; cancels upstream when that value arrives.
  @inlinable public func first() -> Publishers.First<Self> { Publishers.First(upstream: self) }

  /// Delivers the first value for which `predicate` holds, then finishes.
  ///
  ///     upstream    --1--2--3--|
  ///     first(where: isEven)
  ///     downstream  -----2|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through.
  /// **Cancellation:** passes through. **Policy:** keeps one value; drops those before it.
  @inlinable public func first(where predicate: @escaping (Output) -> Bool) -> Publishers.FirstWhere<Self> {
    Publishers.FirstWhere(upstream: self, predicate: predicate)
  }

  /// Delivers the first value for which `predicate` holds, then finishes; fails if `predicate` throws before that.
  ///
  ///     upstream    --1--x--2--|
  ///     tryFirst { try isEven($0) }   (throws on x)
  ///     downstream  -----#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// keeps one value; drops those before it.
  @inlinable
  public func tryFirst(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryFirstWhere<Self> {
    Publishers.TryFirstWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/first()``.
  @frozen public struct First<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Upstream.Output, Output, NonThrowing<Failure>>(
          "First", ErasedSubscriber(subscriber), nil, .expected
        ) { first, value in
          first = value
          return true
        })
    }
  }

  /// See ``Publisher/first(where:)``.
  @frozen public struct FirstWhere<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let predicate: (Upstream.Output) -> Bool

    @inlinable public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.reduce(
        by: FirstWhereRule<Upstream.Output>.self, NonThrowing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }

  /// See ``Publisher/tryFirst(where:)``.
  @frozen public struct TryFirstWhere<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let predicate: (Upstream.Output) throws -> Bool

    @inlinable public init(upstream: Upstream, predicate: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.reduce(
        by: FirstWhereRule<Upstream.Output>.self, Throwing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }
}

@usableFromInline enum FirstWhereRule<Input>: PredicateRule {
  @inlinable static var name: StaticString { "FirstWhere" }
  /// The name `TryFirst`. As in Combine, `first(where:)` has this name, too.
  @inlinable static var plainName: StaticString { "TryFirst" }
  @inlinable static var initial: Input? { nil }
  @inlinable static var settling: Settling { .expected }
  @inlinable static func settle(_ result: inout Input?, _ value: Input, holds: Bool) -> Bool {
    if holds { result = value }
    return holds
  }
}

extension Publishers.First: Equatable where Upstream: Equatable {}
