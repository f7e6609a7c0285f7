extension Publisher {
  /// Delivers the first value, then finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     first()
  ///     downstream  --a|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through.
  /// **Cancellation:** passes through. Policy: keeps one value; cancels upstream with it.
  @inlinable public func first() -> Publishers.First<Self> { Publishers.First(upstream: self) }

  /// Delivers the first value for which `predicate` holds, then finishes.
  ///
  ///     upstream    --1--2--3--|
  ///     first(where: isEven)
  ///     downstream  -----2|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through.
  /// **Cancellation:** passes through. Policy: keeps one value; drops those before it.
  @inlinable public func first(where predicate: @escaping (Output) -> Bool) -> Publishers.FirstWhere<Self> {
    Publishers.FirstWhere(upstream: self, predicate: predicate)
  }

  /// Delivers the first value for which `predicate` holds, and fails with the first error it throws.
  ///
  ///     upstream    --1--x--2--|
  ///     tryFirst { try isEven($0) }   (throws on x)
  ///     downstream  -----#
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** an error thrown cancels
  /// upstream; upstream's own passes through, without a result. **Cancellation:** passes through. Policy: keeps one
  /// value; drops those before it.
  @inlinable
  public func tryFirst(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryFirstWhere<Self> {
    Publishers.TryFirstWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/first()``.
  @frozen public struct First<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Output, NonThrowing<Failure>>(
          "First", ErasedSubscriber(subscriber), nil
        ) { first, value in
          first = value
          return true
        })
    }
  }

  /// See ``Publisher/first(where:)``.
  public typealias FirstWhere<Upstream: Publisher> = PredicateReduction<
    Upstream, FirstWhereRule<Upstream.Output>, NonThrowing<Upstream.Failure>
  >

  /// See ``Publisher/tryFirst(where:)``.
  public typealias TryFirstWhere<Upstream: Publisher> = PredicateReduction<
    Upstream, FirstWhereRule<Upstream.Output>, Throwing<Upstream.Failure>
  >

  /// See ``PredicateRule``.
  public enum FirstWhereRule<Input>: PredicateRule {
    @inlinable public static var name: StaticString { "FirstWhere" }
    /// The name that Combine shows.
    @inlinable public static var plainName: StaticString { "TryFirst" }
    @inlinable public static var initial: Input? { nil }
    @inlinable public static func settle(_ result: inout Input?, _ value: Input, holds: Bool) -> Bool {
      if holds { result = value }
      return holds
    }
  }
}

extension Publishers.First: Equatable where Upstream: Equatable {}
