extension Publisher {
  /// Delivers `false` as soon as `predicate` is false for a value, and `true` if upstream finishes first.
  ///
  ///     upstream    --2--4--5--|
  ///     allSatisfy(isEven)
  ///     downstream  --------false|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without
  /// a result. **Cancellation:** passes through. **Policy:** drops the values.
  @inlinable public func allSatisfy(_ predicate: @escaping (Output) -> Bool) -> Publishers.AllSatisfy<Self> {
    Publishers.AllSatisfy(upstream: self, predicate: predicate)
  }

  /// Delivers `false` as soon as `predicate` is false for a value, and `true` if upstream finishes first. Fails with
  /// the first error that `predicate` throws.
  ///
  ///     upstream    --2--4--x--|
  ///     tryAllSatisfy { try isEven($0) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// drops the values.
  @inlinable
  public func tryAllSatisfy(_ predicate: @escaping (Output) throws -> Bool) -> Publishers.TryAllSatisfy<Self> {
    Publishers.TryAllSatisfy(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/allSatisfy(_:)``.
  @frozen public struct AllSatisfy<Upstream: Publisher>: Operator {
    public typealias Output = Bool

    public let upstream: Upstream
    public let predicate: (Upstream.Output) -> Bool

    @inlinable public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.reduce(
        by: AllSatisfyRule<Upstream.Output>.self, NonThrowing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }

  /// See ``Publisher/tryAllSatisfy(_:)``.
  @frozen public struct TryAllSatisfy<Upstream: Publisher>: Operator {
    public typealias Output = Bool
    public typealias Failure = any Error

    public let upstream: Upstream
    public let predicate: (Upstream.Output) throws -> Bool

    @inlinable public init(upstream: Upstream, predicate: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.reduce(
        by: AllSatisfyRule<Upstream.Output>.self, Throwing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }
}

@usableFromInline enum AllSatisfyRule<Input>: PredicateRule {
  @inlinable static var name: StaticString { "AllSatisfy" }
  @inlinable static var initial: Bool? { true }
  @inlinable static var settling: Settling { .possible }
  @inlinable static func settle(_ result: inout Bool?, _ value: Input, holds: Bool) -> Bool {
    result = holds
    return !holds
  }
}
