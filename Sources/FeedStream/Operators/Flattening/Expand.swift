extension Publisher {
  /// Delivers each value and then, level by level, the values of the publishers that `transform` makes from every value
  /// delivered.
  ///
  ///     upstream    --1-|
  ///     expand { $0 < 4 ? [$0 * 2, $0 * 2 + 1] : [] }
  ///     downstream  --1-234567|
  ///
  /// Use it for trees, and for pages that link to the next page. Finishes when there is nothing left to expand.
  /// **Demand:** the outstanding demand passes to each new publisher. **Failure:** the first failure ends the stream.
  /// **Cancellation:** cancels the running publisher. **Policy:** holds delivered values without limit until their turn
  /// to be expanded.
  @inlinable public func expand<P: Publisher<Output, Failure>>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.Expand<Self, P> {
    Publishers.Expand(upstream: self, transform: transform)
  }
}

extension Publisher {
  /// `expand` for publishers that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/expand(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func expand<P: Publisher<Output, Never>>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.Expand<Self, Publishers.SetFailureType<P, Failure>> {
    expand { transform($0).setFailureType(to: Failure.self) }
  }
}

extension Publisher where Failure == Never {
  /// `expand` for a stream that cannot fail and publishers that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/expand(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func expand<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.Expand<Publishers.SetFailureType<Self, P.Failure>, P> where P.Output == Output {
    setFailureType(to: P.Failure.self).expand(transform)
  }
}

extension Publishers {
  /// See ``Publisher/expand(_:)``.
  @frozen
  public struct Expand<Upstream: Publisher, NewPublisher: Publisher<Upstream.Output, Upstream.Failure>>: Operator,
    _JoinsPublishers
  {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let transform: (Output) -> NewPublisher

    @inlinable public init(upstream: Upstream, transform: @escaping (Output) -> NewPublisher) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let toExpand = ValuesToExpand<Output>()
      let noting = { (value: Output) in
        toExpand.append(value)
        return value
      }
      let stage = ExpandStage<Output, Failure>(ErasedSubscriber(subscriber), toExpand) { [transform] value, inlet in
        transform(value).map(noting).receive(subscriber: inlet)
      }
      stage.down.receive(subscription: stage)
      stage.subscribe { [upstream] in upstream.map(noting).receive(subscriber: $0) }
    }
  }
}

@usableFromInline final class ExpandStage<Output, Failure: Error>: SequentialStage<Output, Failure> {
  /// The values that have been delivered, but not expanded yet. They are recorded on their way to this stage.
  private let toExpand: ValuesToExpand<Output>
  private let attach: (Output, Upstream) -> Void

  @usableFromInline init(
    _ down: ErasedSubscriber<Output, Failure>, _ toExpand: ValuesToExpand<Output>,
    attach: @escaping (Output, Upstream) -> Void
  ) {
    self.toExpand = toExpand
    self.attach = attach
    super.init("Expand", down)
  }

  override func ended(_ completion: Subscribers.Completion<Failure>) {
    guard case .finished = completion, let value = toExpand.popFirst() else { return end(completion) }
    subscribe { [attach] in attach(value, $0) }
  }

  override func cancelUpstreams() {
    super.cancelUpstreams()
    toExpand.removeAll()
  }
}

/// The values that `expand` has delivered, but not expanded yet. A publisher may deliver on a thread of its own.
@usableFromInline final class ValuesToExpand<Value> {
  private let mutex = SystemMutex()
  @exclusivity(unchecked) private var values = FIFO<Value>()

  @usableFromInline init() {}
  @usableFromInline func append(_ value: Value) { mutex.withLock { values.append(value) } }
  func popFirst() -> Value? { mutex.withLock { values.popFirst() } }

  func removeAll() {
    // Released outside the lock, because their release may call back.
    discard(mutex.withLock { exchange(&values, with: FIFO()) })
  }
}
