extension Publisher {
  /// Delivers values as long as `predicate` holds, then finishes.
  ///
  ///     upstream    --1--2--9--3--|
  ///     prefix(while: { $0 < 5 })
  ///     downstream  --1--2--|
  ///
  /// ![prefix { $0 < 3 }](marbles-prefix-while.svg)
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards; drops the first value for which `predicate`
  /// does not hold.
  @inlinable public func prefix(while predicate: @escaping (Output) -> Bool) -> Publishers.PrefixWhile<Self> {
    Publishers.PrefixWhile(upstream: self, predicate: predicate)
  }

  /// Delivers values as long as `predicate` holds, then finishes. With `inclusive: true`, the first value for which it
  /// does not hold is delivered, too.
  ///
  ///     upstream    --1--2--9--3--|
  ///     prefix(while: { $0 < 5 }, inclusive: true)
  ///     downstream  --1--2--9|
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/prefix(while:)``; upstream is cancelled before the
  /// last value is delivered.
  @inlinable public func prefix(
    while predicate: @escaping (Output) -> Bool, inclusive isInclusive: Bool
  ) -> Publishers.PrefixWhile<Self> {
    Publishers.PrefixWhile(upstream: self, isInclusive: isInclusive, predicate: predicate)
  }

  /// Delivers values as long as `predicate` holds, then finishes; fails with the first error that `predicate` throws.
  ///
  ///     upstream    --1--2--x--3--|
  ///     tryPrefix { try isSmall($0) }   (throws on x)
  ///     downstream  --1--2--#
  ///
  /// **Demand, cancellation:** pass through. **Failure:** a thrown error cancels upstream; upstream's own failure
  /// passes through. **Policy:** forwards; drops the first value for which `predicate` does not hold.
  @inlinable
  public func tryPrefix(while predicate: @escaping (Output) throws -> Bool) -> Publishers.TryPrefixWhile<Self> {
    Publishers.TryPrefixWhile(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/prefix(while:)``.
  public typealias PrefixWhile<Upstream: Publisher> = PrefixingWhile<Upstream, NonThrowing<Upstream.Failure>>
  /// See ``Publisher/tryPrefix(while:)``.
  public typealias TryPrefixWhile<Upstream: Publisher> = PrefixingWhile<Upstream, Throwing<Upstream.Failure>>

  /// The type that ``PrefixWhile`` and ``TryPrefixWhile`` share.
  @frozen public struct PrefixingWhile<Upstream: Publisher, Mode: FailureMode<Upstream.Failure>>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = Mode.Failure
    public typealias Predicate = (Upstream.Output) throws(Mode.RuleError) -> Bool

    public let upstream: Upstream
    /// True when the first value for which `predicate` does not hold is delivered.
    public let isInclusive: Bool
    public let predicate: Predicate

    @inlinable public init(upstream: Upstream, isInclusive: Bool = false, predicate: @escaping Predicate) {
      self.upstream = upstream
      self.isInclusive = isInclusive
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: PrefixWhileStage<Output, Mode>(ErasedSubscriber(subscriber), isInclusive: isInclusive, predicate))
    }
  }
}

@usableFromInline
final class PrefixWhileStage<Input, Mode: Publishers.FailureMode>: ThrowingStage<Input, Input, Mode>, Subscriber {
  @usableFromInline typealias Failure = Mode.UpstreamFailure

  @usableFromInline let predicate: (Input) throws(Mode.RuleError) -> Bool
  @usableFromInline let isInclusive: Bool

  @inlinable init(
    _ down: ErasedSubscriber<Input, Mode.Failure>, isInclusive: Bool,
    _ predicate: @escaping (Input) throws(Mode.RuleError) -> Bool
  ) {
    self.isInclusive = isInclusive
    self.predicate = predicate
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents || takesStray() else { return .none }
    do throws(Mode.RuleError) {
      if try predicate(input) { return down.receive(input) }
    } catch {
      return fail(error)
    }
    if isInclusive { stop(after: input) } else { stop(.finished) }
    return .none
  }

  override var strays: Strays { .earlyTraps }
}
