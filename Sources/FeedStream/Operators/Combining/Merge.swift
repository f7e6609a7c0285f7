extension Publisher {
  /// Delivers the values of this publisher and another, as they arrive.
  ///
  ///     upstream    --a-----b-----|
  ///     other       -----1-----2--|
  ///     merge(with: other)
  ///     downstream  --a--1--b--2--|
  ///
  /// ![merge(with: other)](marbles-merge.svg)
  ///
  /// Finishes when all have finished. **Demand:** requests everything while the demand is unlimited, otherwise one
  /// value at a time from each publisher. **Failure:** the first failure cancels the other publishers and ends the
  /// stream; held values are dropped and reported. **Cancellation:** cancels all.
  /// **Policy:** holds values that have not been requested, one per publisher that respects the demand.
  @inlinable public func merge<B: Publisher<Output, Failure>>(with other: B) -> Publishers.Merge<Self, B> {
    Publishers.Merge(self, other)
  }

  /// Delivers the values of this publisher and another of the same type, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable public func merge(with other: Self) -> Publishers.MergeMany<Self> { Publishers.MergeMany([self, other]) }
}

extension Publishers {
  /// Delivers the values of any number of publishers, as they arrive. Finishes when all have finished, or immediately
  /// when there are none.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @frozen public struct MergeMany<Upstream: Publisher>: Publisher, _JoinsPublishers {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let publishers: [Upstream]

    @inlinable public init(_ upstream: Upstream...) { publishers = upstream }
    @inlinable
    public init<S: Swift.Sequence>(_ upstream: S) where S.Element == Upstream { publishers = Array(upstream) }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      MergeStage("Merge", ErasedSubscriber(subscriber)).start(
        publishers.map { publisher in { publisher.receive(subscriber: $0) } })
    }

    /// Merges one more publisher.
    ///
    /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
    @inlinable public func merge(with other: Upstream) -> MergeMany<Upstream> { MergeMany(publishers + [other]) }
  }

  /// See ``Publisher/merge(with:)-(B)``.
  @frozen public struct Merge<A: Publisher, B: Publisher<A.Output, A.Failure>>: Publisher, _JoinsPublishers {
    public typealias Output = A.Output
    public typealias Failure = A.Failure

    public let a: A
    public let b: B
    /// Each closure subscribes to one upstream. If ``a`` is a merge, its upstreams are listed individually, so that one
    /// stage serves all of them.
    @usableFromInline let upstreams: [MergeStage<Output, Failure>.Attach]

    // Disfavored, because the compiler would otherwise prefer this initializer to the generic one below.
    @_disfavoredOverload
    @inlinable public init(_ a: A, _ b: B) { self.init(a, b, upstreams: [{ a.receive(subscriber: $0) }]) }

    /// Adds one more publisher to a merge.
    @inlinable public init<P1, P2>(_ a: A, _ b: B) where A == Merge<P1, P2> {
      self.init(a, b, upstreams: a.upstreams)
    }

    @inlinable init(_ a: A, _ b: B, upstreams: [MergeStage<Output, Failure>.Attach]) {
      self.a = a
      self.b = b
      self.upstreams = upstreams + [{ b.receive(subscriber: $0) }]
    }

    /// Merges one more publisher.
    ///
    /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
    @inlinable public func merge<C: Publisher<Output, Failure>>(with other: C) -> Merge<Self, C> {
      Merge<Self, C>(self, other, upstreams: upstreams)
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      MergeStage("Merge", ErasedSubscriber(subscriber)).start(upstreams)
    }
  }
}

extension Publishers.MergeMany: Equatable where Upstream: Equatable {}
extension Publishers.Merge: Equatable where A: Equatable, B: Equatable {
  public static func == (left: Self, right: Self) -> Bool { left.a == right.a && left.b == right.b }
}

extension MergeStage {
  /// Subscribes an inlet to one upstream.
  @usableFromInline typealias Attach = (Inlet<MergePort<Output, Failure>>) -> Void

  /// Subscribes to a fixed number of upstreams.
  @inlinable func start(_ upstreams: [Attach]) {
    guard entry.enter() else { return }
    down.receive(subscription: self)
    // All inlets are added before the first is attached: an upstream that finishes immediately must not look like the
    // last.
    for (attach, inlet) in zip(upstreams, upstreams.map { _ in addInlet() }) where isActive { attach(inlet) }
    close()
    entry.leave()
  }
}

extension Swift.Collection where Element: Publisher {
  /// Delivers the values of all these publishers, as they arrive. Finishes immediately when there are no publishers.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  public func merge() -> Publishers.MergeMany<Element> { Publishers.MergeMany(self) }
}
