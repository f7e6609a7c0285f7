extension Publisher {
  /// Delivers whether `predicate` holds for every value: `false` as soon as it does not, `true` when upstream finishes.
  ///
  ///     upstream    --2--4--5--|
  ///     allSatisfy(isEven)
  ///     downstream  --------false|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without
  /// an answer. **Cancellation:** passes through. Policy: forwards nothing else.
  @inlinable public func allSatisfy(_ predicate: @escaping (Output) -> Bool) -> Publishers.AllSatisfy<Self> {
    Publishers.AllSatisfy(upstream: self, predicate: predicate)
  }

  /// Delivers whether `predicate` holds for every value, and fails with the first error it throws.
  ///
  ///     upstream    --2--4--x--|
  ///     tryAllSatisfy { try isEven($0) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** an error thrown cancels
  /// upstream; upstream's own passes through, without a result. **Cancellation:** passes through. Policy: forwards
  /// nothing else.
  @inlinable
  public func tryAllSatisfy(_ predicate: @escaping (Output) throws -> Bool) -> Publishers.TryAllSatisfy<Self> {
    Publishers.TryAllSatisfy(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/allSatisfy(_:)``.
  public typealias AllSatisfy<Upstream: Publisher> = PredicateReduction<
    Upstream, AllSatisfyRule<Upstream.Output>, NonThrowing<Upstream.Failure>
  >

  /// See ``Publisher/tryAllSatisfy(_:)``.
  public typealias TryAllSatisfy<Upstream: Publisher> = PredicateReduction<
    Upstream, AllSatisfyRule<Upstream.Output>, Throwing<Upstream.Failure>
  >

  /// See ``PredicateRule``.
  public enum AllSatisfyRule<Input>: PredicateRule {
    @inlinable public static var name: StaticString { "AllSatisfy" }
    @inlinable public static var initial: Bool? { true }
    @inlinable public static func settle(_ result: inout Bool?, _ value: Input, holds: Bool) -> Bool {
      result = holds
      return !holds
    }
  }
}
