extension Publisher where Output: Hashable {
  /// Delivers each value only the first time it appears.
  ///
  ///     upstream    --a--b--a--c--b--|
  ///     distinct()
  ///     downstream  --a--b-----c-----|
  ///
  /// ![distinct()](marbles-distinct.svg)
  ///
  /// Keeps every delivered value until the subscription ends. If only adjacent values repeat, use `removeDuplicates()`,
  /// which keeps only one value.
  ///
  /// **Demand:** requests one more value for each one left out. **Failure, cancellation:** pass through. **Policy:**
  /// forwards; leaves out duplicates, by design.
  @inlinable public func distinct() -> Publishers.Distinct<Self, Output> { distinct(by: { $0 }) }
}

extension Publisher {
  /// Delivers a value only the first time its key appears.
  ///
  ///     upstream    --"a"--"b"--"cc"--"d"--|
  ///     distinct(by: \.count)
  ///     downstream  --"a"-------"cc"-------|
  ///
  /// Keeps every key until the subscription ends.
  ///
  /// **Demand:** requests one more value for each one left out. **Failure, cancellation:** pass through. **Policy:**
  /// forwards; leaves out duplicates, by design.
  ///
  /// - Parameter key: returns the part of a value that must differ, such as an identifier.
  @inlinable public func distinct<Key: Hashable>(by key: @escaping (Output) -> Key) -> Publishers.Distinct<Self, Key> {
    Publishers.Distinct(upstream: self, key: key)
  }
}

extension Publishers {
  /// See ``Publisher/distinct(by:)``.
  @frozen public struct Distinct<Upstream: Publisher, Key: Hashable>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let key: (Upstream.Output) -> Key

    @inlinable public init(upstream: Upstream, key: @escaping (Upstream.Output) -> Key) {
      self.upstream = upstream
      self.key = key
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: DistinctStage<Output, Failure, Key>(ErasedSubscriber(subscriber), key))
    }
  }
}

@usableFromInline final class DistinctStage<Input, Failure: Error, Key: Hashable>: Stage<Input, Failure>, Subscriber {
  @exclusivity(unchecked) @usableFromInline var seen: Set<Key> = []
  @usableFromInline let key: (Input) -> Key

  @inlinable init(_ down: ErasedSubscriber<Input, Failure>, _ key: @escaping (Input) -> Key) {
    self.key = key
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    return seen.insert(key(input)).inserted ? down.receive(input) : .max(1)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  override func forget() { discard(exchange(&seen, with: [])) }
}
