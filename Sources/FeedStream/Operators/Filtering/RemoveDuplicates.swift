extension Publisher where Output: Equatable {
  /// Drops each value that is equal to the one before it.
  ///
  ///     upstream    --a--a--b--b--a--|
  ///     removeDuplicates()
  ///     downstream  --a-----b-----a--|
  ///
  /// ![removeDuplicates()](marbles-removeDuplicates.svg)
  ///
  /// **Demand:** requests one more value for each one dropped. **Failure, cancellation:** pass through. **Policy:**
  /// forwards; leaves out duplicates, by design.
  @inlinable public func removeDuplicates() -> Publishers.RemoveDuplicates<Self> { removeDuplicates(by: ==) }
}

extension Publisher {
  /// Drops a value when `predicate` returns true for the previous value and this one.
  ///
  ///     upstream    --a--A--b--B--a--|
  ///     removeDuplicates { $0.lowercased() == $1.lowercased() }
  ///     downstream  --a-----b-----a--|
  ///
  /// **Demand:** requests one more value for each one dropped. **Failure, cancellation:** pass through. **Policy:**
  /// forwards; leaves out duplicates, by design.
  ///
  /// - Parameter predicate: compares the previous value with the new one.
  @inlinable public func removeDuplicates(
    by predicate: @escaping (Output, Output) -> Bool
  ) -> Publishers.RemoveDuplicates<Self> {
    Publishers.RemoveDuplicates(upstream: self, predicate: predicate)
  }

  /// Drops a value when `predicate` returns true for the previous value and this one; fails with the first error that
  /// `predicate` throws.
  ///
  ///     upstream    --a--a--b--x--|
  ///     tryRemoveDuplicates { try isSame($0, $1) }   (throws on x)
  ///     downstream  --a-----b--#
  ///
  /// **Demand:** requests one more value for each one dropped. **Failure:** a thrown error cancels upstream; upstream's
  /// own failure passes through. **Cancellation:** passes through. **Policy:** forwards; leaves out duplicates, by
  /// design.
  ///
  /// - Parameter predicate: compares the previous value with the new one.
  @inlinable public func tryRemoveDuplicates(
    by predicate: @escaping (Output, Output) throws -> Bool
  ) -> Publishers.TryRemoveDuplicates<Self> {
    Publishers.TryRemoveDuplicates(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/removeDuplicates(by:)``.
  public typealias RemoveDuplicates<Upstream: Publisher> = RemovingDuplicates<Upstream, NonThrowing<Upstream.Failure>>
  /// See ``Publisher/tryRemoveDuplicates(by:)``.
  public typealias TryRemoveDuplicates<Upstream: Publisher> = RemovingDuplicates<Upstream, Throwing<Upstream.Failure>>

  /// The type that ``RemoveDuplicates`` and ``TryRemoveDuplicates`` share.
  @frozen public struct RemovingDuplicates<Upstream: Publisher, Mode: FailureMode<Upstream.Failure>>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = Mode.Failure
    public typealias Predicate = (Output, Output) throws(Mode.RuleError) -> Bool

    public let upstream: Upstream
    public let predicate: Predicate

    @inlinable public init(upstream: Upstream, predicate: @escaping Predicate) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: RemoveDuplicatesStage<Output, Mode>(ErasedSubscriber(subscriber), predicate))
    }
  }
}

@usableFromInline
final class RemoveDuplicatesStage<Input, Mode: Publishers.FailureMode>: ThrowingStage<Input, Input, Mode>, Subscriber {
  @usableFromInline typealias Failure = Mode.UpstreamFailure

  @exclusivity(unchecked) @usableFromInline var last: Input?
  @usableFromInline let isDuplicate: (Input, Input) throws(Mode.RuleError) -> Bool

  @inlinable init(
    _ down: ErasedSubscriber<Input, Mode.Failure>,
    _ isDuplicate: @escaping (Input, Input) throws(Mode.RuleError) -> Bool
  ) {
    self.isDuplicate = isDuplicate
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents || takesStray() else { return .none }
    if let last {
      do throws(Mode.RuleError) {
        if try isDuplicate(last, input) {
          discard(exchange(&self.last, with: input))
          return .max(1)
        }
      } catch {
        return fail(error)
      }
    }
    let old = exchange(&last, with: input)
    let more = down.receive(input)
    discard(old)
    return more
  }

  override func forget() { discard(last.take()) }

  override var strays: Strays { .earlyTraps }
}
