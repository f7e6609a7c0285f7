extension Publisher {
  /// Delivers `output` when upstream finishes without a value.
  ///
  ///     upstream    --------|
  ///     replaceEmpty(with: z)
  ///     downstream  --------z|
  ///
  /// ![replaceEmpty(with: "none")](marbles-replaceEmpty.svg)
  ///
  /// **Demand:** passes through; `output` waits for demand. **Failure, cancellation:** pass through. **Policy:**
  /// forwards values; holds `output`.
  @inlinable public func replaceEmpty(with output: Output) -> Publishers.ReplaceEmpty<Self> {
    Publishers.ReplaceEmpty(upstream: self, output: output)
  }
}

extension Publishers {
  /// See ``Publisher/replaceEmpty(with:)``.
  @frozen public struct ReplaceEmpty<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let output: Upstream.Output
    public let upstream: Upstream

    @inlinable public init(upstream: Upstream, output: Output) {
      self.upstream = upstream
      self.output = output
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: ReplaceEmptyStage<Output, Failure>(ErasedSubscriber(subscriber), output))
    }
  }
}

extension Publishers.ReplaceEmpty: Equatable where Upstream: Equatable, Upstream.Output: Equatable {}

@usableFromInline final class ReplaceEmptyStage<Input, Failure: Error>: LastValueStage<Input, Failure>, Subscriber {
  private let output: Input
  @exclusivity(unchecked) @usableFromInline var isEmpty = true
  private var isAsked = false

  @usableFromInline init(_ down: ErasedSubscriber<Input, Failure>, _ output: Input) {
    self.output = output
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    isEmpty = false
    return down.receive(input)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    if isEmpty, case .finished = completion {
      finish(with: output, isAsked: isAsked)
    } else {
      finish(completion)
    }
  }

  override func asked(for demand: Subscribers.Demand) {
    isAsked = true
    up?.request(demand)
  }
}
