extension Publisher where Output: Equatable {
  /// Delivers `true` as soon as a value equal to `output` arrives, and `false` when upstream finishes without one.
  ///
  ///     upstream    --a--b--c--|
  ///     contains(b)
  ///     downstream  -----true|
  ///
  /// ![contains(2)](marbles-contains.svg)
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without
  /// a result. **Cancellation:** passes through. **Policy:** drops the values.
  @inlinable public func contains(_ output: Output) -> Publishers.Contains<Self> {
    Publishers.Contains(upstream: self, output: output)
  }
}

extension Publisher {
  /// Delivers `true` as soon as `predicate` holds for a value, and `false` if upstream finishes first.
  ///
  ///     upstream    --1--2--3--|
  ///     contains(where: isEven)
  ///     downstream  -----true|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without
  /// a result. **Cancellation:** passes through. **Policy:** drops the values.
  @inlinable public func contains(where predicate: @escaping (Output) -> Bool) -> Publishers.ContainsWhere<Self> {
    Publishers.ContainsWhere(upstream: self, predicate: predicate)
  }

  /// Delivers `true` as soon as `predicate` holds for a value, and `false` if upstream finishes first. Fails with the
  /// first error that `predicate` throws.
  ///
  ///     upstream    --1--x--2--|
  ///     tryContains { try isEven($0) }   (throws on x)
  ///     downstream  -----#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// drops the values.
  @inlinable
  public func tryContains(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryContainsWhere<Self> {
    Publishers.TryContainsWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/contains(_:)``.
  @frozen public struct Contains<Upstream: Publisher>: Operator where Upstream.Output: Equatable {
    public typealias Output = Bool

    public let upstream: Upstream
    public let output: Upstream.Output

    @inlinable public init(upstream: Upstream, output: Upstream.Output) {
      self.upstream = upstream
      self.output = output
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Upstream.Output, Bool, NonThrowing<Failure>>(
          "Contains", ErasedSubscriber(subscriber), false, .possible
        ) { [output] isFound, value in
          guard value == output else { return false }
          isFound = true
          return true
        })
    }
  }

  /// See ``Publisher/contains(where:)``.
  @frozen public struct ContainsWhere<Upstream: Publisher>: Operator {
    public typealias Output = Bool

    public let upstream: Upstream
    public let predicate: (Upstream.Output) -> Bool

    @inlinable public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.reduce(
        by: ContainsWhereRule<Upstream.Output>.self, NonThrowing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }

  /// See ``Publisher/tryContains(where:)``.
  @frozen public struct TryContainsWhere<Upstream: Publisher>: Operator {
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
        by: ContainsWhereRule<Upstream.Output>.self, Throwing<Upstream.Failure>.self, predicate, into: subscriber)
    }
  }
}

@usableFromInline enum ContainsWhereRule<Input>: PredicateRule {
  @inlinable static var name: StaticString { "ContainsWhere" }
  @inlinable static var initial: Bool? { false }
  @inlinable static var settling: Settling { .possible }
  @inlinable static func settle(_ result: inout Bool?, _ value: Input, holds: Bool) -> Bool {
    result = holds
    return holds
  }
}

extension Publishers.Contains: Equatable where Upstream: Equatable {}
