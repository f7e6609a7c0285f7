extension Publisher {
  /// Delivers the last value, when upstream finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     last()
  ///     downstream  -----------c|
  ///
  /// ![last()](marbles-last.svg)
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// value. **Cancellation:** passes through. **Policy:** keeps one value; drops the others.
  @inlinable public func last() -> Publishers.Last<Self> { Publishers.Last(upstream: self) }

  /// Delivers the last value for which `predicate` holds, when upstream finishes.
  ///
  ///     upstream    --1--2--3--|
  ///     last { $0 < 3 }
  ///     downstream  -----------2|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// value. **Cancellation:** passes through. **Policy:** keeps one value; drops the others.
  @inlinable public func last(where predicate: @escaping (Output) -> Bool) -> Publishers.LastWhere<Self> {
    Publishers.LastWhere(upstream: self, predicate: predicate)
  }

  /// Delivers the last value for which `predicate` holds, when upstream finishes; fails with the first error that
  /// `predicate` throws.
  ///
  ///     upstream    --1--2--x--|
  ///     tryLast { try isEven($0) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// keeps one value; drops the others.
  @inlinable public func tryLast(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryLastWhere<Self> {
    Publishers.TryLastWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/last()``.
  @frozen public struct Last<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Upstream.Output, Output, NonThrowing<Failure>>(
          "Last", ErasedSubscriber(subscriber), nil
        ) { last, value in
          last = value
          return false
        })
    }
  }

  /// See ``Publisher/last(where:)``.
  @frozen public struct LastWhere<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let predicate: (Upstream.Output) -> Bool

    @inlinable public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.reduce(
        by: LastWhereRule<Upstream.Output>.self, NonThrowing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }

  /// See ``Publisher/tryLast(where:)``.
  @frozen public struct TryLastWhere<Upstream: Publisher>: Operator {
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
        by: LastWhereRule<Upstream.Output>.self, Throwing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }
}

@usableFromInline enum LastWhereRule<Input>: PredicateRule {
  @inlinable static var name: StaticString { "LastWhere" }
  @inlinable static var initial: Input? { nil }
  @inlinable static var settling: Settling { .never }
  @inlinable static func settle(_ result: inout Input?, _ value: Input, holds: Bool) -> Bool {
    if holds { result = value }
    return false
  }
}

extension Publishers.Last: Equatable where Upstream: Equatable {}
