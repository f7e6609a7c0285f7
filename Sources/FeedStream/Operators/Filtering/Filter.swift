extension Publisher {
  /// Delivers the values for which `isIncluded` holds.
  ///
  ///     upstream    --1--2--3--4--|
  ///     filter(isEven)
  ///     downstream  -----2-----4--|
  ///
  /// ![filter { $0 > 2 }](marbles-filter.svg)
  ///
  /// **Demand:** requests one more value for each one left out. **Failure, cancellation:** pass through. **Policy:**
  /// forwards; leaves out the other values, by design.
  @inlinable public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.Filter<Self> {
    Publishers.Filter(upstream: self, isIncluded: isIncluded)
  }

  /// Delivers the values for which `isIncluded` holds, and fails with the first error it throws.
  ///
  ///     upstream    --1--2--3--4--|
  ///     tryFilter { try isEven($0) }   (throws on 3)
  ///     downstream  -----2--#
  ///
  /// **Demand:** requests one more value for each one left out. **Failure:** a thrown error cancels upstream;
  /// upstream's own failure passes through. **Cancellation:** passes through. **Policy:** forwards; leaves out the
  /// other values, by design.
  @inlinable public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> Publishers.TryFilter<Self> {
    Publishers.TryFilter(upstream: self, isIncluded: isIncluded)
  }
}

extension Publishers {
  /// See ``Publisher/filter(_:)``.
  @frozen public struct Filter<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let isIncluded: (Upstream.Output) -> Bool

    @inlinable public init(upstream: Upstream, isIncluded: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.isIncluded = isIncluded
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFullyFused {
        upstream.receive(subscriber: FilterStage(subscriber.erased, isIncluded))
      } else {
        upstream.receive(subscriber: FilterStage(subscriber, isIncluded))
      }
    }
  }

  /// See ``Publisher/tryFilter(_:)``.
  @frozen public struct TryFilter<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let isIncluded: (Upstream.Output) throws -> Bool

    @inlinable public init(upstream: Upstream, isIncluded: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.isIncluded = isIncluded
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = ErasedSubscriber(subscriber)
      upstream.receive(
        stage: TryStage<Output, Upstream.Failure, Output>("TryFilter", strays: .earlyTraps, down) {
          [isIncluded] in
          try isIncluded($0) ? down.receive($0) : .max(1)
        })
    }
  }
}

extension Publishers.Filter {
  /// Like `filter(_:)` on other publishers, but fused with this operator.
  @inlinable public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.Filter<Upstream> {
    Publishers.Filter(upstream: upstream) { [first = self.isIncluded] in first($0) && isIncluded($0) }
  }

  /// Like `tryFilter(_:)` on other publishers, but fused with this operator.
  @inlinable public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> Publishers.TryFilter<Upstream> {
    Publishers.TryFilter(upstream: upstream) { [first = self.isIncluded] in try first($0) && isIncluded($0) }
  }
}

extension Publishers.TryFilter {
  /// Like `filter(_:)` on other publishers, but fused with this operator.
  @inlinable public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.TryFilter<Upstream> {
    tryFilter(isIncluded)
  }

  /// Like `tryFilter(_:)` on other publishers, but fused with this operator.
  @inlinable public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> Publishers.TryFilter<Upstream> {
    Publishers.TryFilter(upstream: upstream) { [first = self.isIncluded] in try first($0) && isIncluded($0) }
  }
}

@frozen @usableFromInline struct FilterStage<Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let isIncluded: (Input) -> Bool

  @inlinable init(_ downstream: Downstream, _ isIncluded: @escaping (Input) -> Bool) {
    self.downstream = downstream
    self.isIncluded = isIncluded
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand { isIncluded(input) ? downstream.receive(input) : .max(1) }
}
