extension Publisher {
  /// Delivers values as long as `predicate` holds, then finishes.
  ///
  ///     upstream    --1--2--9--3--|
  ///     prefix(while: { $0 < 5 })
  ///     downstream  --1--2--|
  ///
  /// **Demand, failure, cancellation:** pass through. Policy: forwards; drops the value for which it does not hold.
  @inlinable
  public func prefix(while predicate: @escaping (Output) -> Bool) -> Publishers.PrefixWhile<Self> {
    Publishers.PrefixWhile(upstream: self, predicate: predicate)
  }

  /// Delivers values as long as `predicate` holds, and when `isInclusive` the first for which it does not, then finishes.
  ///
  ///     upstream    --1--2--9--3--|
  ///     prefix(while: { $0 < 5 }, inclusive: true)
  ///     downstream  --1--2--9|
  ///
  /// **Demand, failure, cancellation:** as ``prefix(while:)``; upstream is cancelled before the last value is delivered.
  @inlinable
  public func prefix(
    while predicate: @escaping (Output) -> Bool, inclusive isInclusive: Bool
  ) -> Publishers.PrefixWhile<Self> {
    Publishers.PrefixWhile(upstream: self, isInclusive: isInclusive, predicate: predicate)
  }

  /// Delivers values as long as `predicate` holds, and fails with the first error it throws.
  ///
  /// **Demand, cancellation:** pass through. **Failure:** an error thrown cancels upstream. Policy: forwards.
  @inlinable
  public func tryPrefix(while predicate: @escaping (Output) throws -> Bool) -> Publishers.TryPrefixWhile<Self> {
    Publishers.TryPrefixWhile(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/prefix(while:)``.
  @frozen
  public struct PrefixWhile<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    /// Whether the first value for which `predicate` does not hold is delivered.
    public let isInclusive: Bool
    public let predicate: (Upstream.Output) -> Bool

    @inlinable
    public init(upstream: Upstream, isInclusive: Bool = false, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.isInclusive = isInclusive
      self.predicate = predicate
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: PrefixWhileStage<Output, Failure, Never, Failure>(
          Downstream(subscriber), .passing, isInclusive: isInclusive, predicate))
    }
  }

  /// See ``Publisher/tryPrefix(while:)``.
  @frozen
  public struct TryPrefixWhile<Upstream: Publisher>: Publisher {
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
        subscriber: PrefixWhileStage<Output, Upstream.Failure, any Error, Failure>(
          Downstream(subscriber), .throwing, predicate))
    }
  }
}

@usableFromInline
final class PrefixWhileStage<Input, Failure: Error, RuleError: Error, OutputFailure: Error>:
  RuleStage<Input, Failure, RuleError, Input, OutputFailure>, Subscriber
{
  @usableFromInline
  let predicate: (Input) throws(RuleError) -> Bool
  @usableFromInline
  let isInclusive: Bool

  @inlinable
  init(
    _ down: Downstream<Input, OutputFailure>, _ endings: Endings<Failure, RuleError, OutputFailure>,
    isInclusive: Bool = false, _ predicate: @escaping (Input) throws(RuleError) -> Bool
  ) {
    self.isInclusive = isInclusive
    self.predicate = predicate
    super.init(down, endings)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive || takesStray() else { return .none }
    do throws(RuleError) {
      if try predicate(input) { return down.next(input) }
    } catch {
      return fail(error)
    }
    if isInclusive { stop(after: input) } else { stop(.finished) }
    return .none
  }

  @usableFromInline
  override var strays: Strays { .earlyTraps }
}
