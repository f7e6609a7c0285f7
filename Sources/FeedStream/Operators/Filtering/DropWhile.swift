extension Publisher {
  /// Drops values as long as `predicate` holds, then delivers every value from the first one for which it doesn't.
  ///
  ///     upstream    --1--2--9--3--|
  ///     drop(while: { $0 < 5 })
  ///     downstream  --------9--3--|
  ///
  /// **Demand:** requests one more value for each one dropped. **Failure, cancellation:** pass through. **Policy:**
  /// forwards the rest.
  @inlinable public func drop(while predicate: @escaping (Output) -> Bool) -> Publishers.DropWhile<Self> {
    Publishers.DropWhile(upstream: self, predicate: predicate)
  }

  /// Drops values as long as `predicate` holds, then delivers the rest; fails with the first error that `predicate`
  /// throws.
  ///
  ///     upstream    --1--2--x--9--|
  ///     tryDrop { try isSmall($0) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** requests one more value for each one dropped. **Failure:** a thrown error cancels upstream; upstream's
  /// own failure passes through. **Cancellation:** passes through. **Policy:** forwards the rest.
  @inlinable public func tryDrop(while predicate: @escaping (Output) throws -> Bool) -> Publishers.TryDropWhile<Self> {
    Publishers.TryDropWhile(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/drop(while:)``.
  public typealias DropWhile<Upstream: Publisher> = Dropping<Upstream, NonThrowing<Upstream.Failure>>
  /// See ``Publisher/tryDrop(while:)``.
  public typealias TryDropWhile<Upstream: Publisher> = Dropping<Upstream, Throwing<Upstream.Failure>>

  /// The type that ``DropWhile`` and ``TryDropWhile`` share.
  @frozen public struct Dropping<Upstream: Publisher, Mode: FailureMode<Upstream.Failure>>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = Mode.Failure
    public typealias Predicate = (Upstream.Output) throws(Mode.RuleError) -> Bool

    public let upstream: Upstream
    public let predicate: Predicate

    @inlinable public init(upstream: Upstream, predicate: @escaping Predicate) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: DropWhileStage<Output, Mode>(ErasedSubscriber(subscriber), predicate))
    }
  }
}

@usableFromInline
final class DropWhileStage<Input, Mode: Publishers.FailureMode>: ThrowingStage<Input, Input, Mode>, Subscriber {
  @usableFromInline typealias Failure = Mode.UpstreamFailure

  @usableFromInline let predicate: (Input) throws(Mode.RuleError) -> Bool
  @exclusivity(unchecked) @usableFromInline var isDropping = true

  @inlinable init(
    _ down: ErasedSubscriber<Input, Mode.Failure>, _ predicate: @escaping (Input) throws(Mode.RuleError) -> Bool
  ) {
    self.predicate = predicate
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    guard isDropping else { return down.receive(input) }
    do throws(Mode.RuleError) {
      if try predicate(input) { return .max(1) }
    } catch {
      return fail(error)
    }
    isDropping = false
    return down.receive(input)
  }
}
