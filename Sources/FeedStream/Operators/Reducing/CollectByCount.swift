extension Publisher {
  /// Delivers the values as arrays of `count`; the last array contains the rest.
  ///
  ///     upstream    --a--b--c--|
  ///     collect(2)
  ///     downstream  -----[a,b]-[c]|
  ///
  /// ![collect(2)](marbles-collect.svg)
  ///
  /// **Demand:** for each array requested, `count` values are requested from upstream. **Failure:** passes through; the
  /// collected values are dropped and reported. **Cancellation:** passes through. **Policy:** buffers up to `count`.
  ///
  /// - Precondition: `count` is more than zero.
  @inlinable public func collect(_ count: Int) -> Publishers.CollectByCount<Self> {
    Publishers.CollectByCount(upstream: self, count: count)
  }

  /// Delivers the values as arrays of `count`: ReactiveX's name for ``Publisher/collect(_:)``. See also
  /// `buffer(for:scheduler:)` and `buffer(on:)`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/collect(_:)``.
  ///
  /// - Precondition: `count` is more than zero.
  @inlinable public func buffer(count: Int) -> Publishers.CollectByCount<Self> {
    precondition(count > 0, "buffer(count: \(count)): an array needs at least 1 value; use 1 or more")
    return collect(count)
  }
}

extension Publishers {
  /// See ``Publisher/collect(_:)``.
  @frozen public struct CollectByCount<Upstream: Publisher>: Operator {
    public typealias Output = [Upstream.Output]

    public let upstream: Upstream
    public let count: Int

    @inlinable public init(upstream: Upstream, count: Int) {
      precondition(count > 0, "collect(\(count)): an array needs at least 1 value; use 1 or more")
      self.upstream = upstream
      self.count = count
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: CollectByCountStage<Upstream.Output, Failure>(ErasedSubscriber(subscriber), count))
    }
  }
}

extension Publishers.CollectByCount: Equatable where Upstream: Equatable {}

@usableFromInline final class CollectByCountStage<Input, Failure: Error>: Stage<[Input], Failure>, Subscriber {
  @usableFromInline let count: Int
  @exclusivity(unchecked) @usableFromInline var collected: [Input] = []

  @inlinable init(_ down: ErasedSubscriber<[Input], Failure>, _ count: Int) {
    self.count = count
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    collected.append(input)
    return collected.count == count ? deliver() : .none
  }

  @inlinable func deliver() -> Subscribers.Demand {
    let full = collected
    collected = []
    collected.reserveCapacity(Swift.min(count, 64))
    return down.receive(full) * count
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    if case .finished = completion, takesEvents, !collected.isEmpty {
      // If upstream respects the demand, values are left over only if an array has been requested.
      phase = .draining
      discard(up.take())
      _ = deliver()
      guard phase == .draining else { return }
      phase = .ended
      return down.receive(completion: .finished)
    }
    for input in collected.take() { StreamDiagnostics.dropped(input, "CollectByCount", .terminated) }
    finish(completion)
  }

  override func requested(_ demand: Subscribers.Demand) {
    up?.request(demand * count)
  }

  override func forget() { discard(collected.take()) }

  override var strays: Strays { .allPass }
}
