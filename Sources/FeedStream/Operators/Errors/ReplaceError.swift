extension Publisher {
  /// Delivers `output` instead of a failure, then finishes.
  ///
  ///     upstream    --a--b--#
  ///     replaceError(with: z)
  ///     downstream  --a--b--z|
  ///
  /// ![replaceError(with: "?")](marbles-replaceError.svg)
  ///
  /// **Demand:** passes through; `output` waits for demand. **Failure:** never. **Cancellation:** passes through.
  /// **Policy:** forwards values; holds `output`.
  @inlinable public func replaceError(with output: Output) -> Publishers.ReplaceError<Self> {
    Publishers.ReplaceError(upstream: self, output: output)
  }
}

extension Publishers {
  /// See ``Publisher/replaceError(with:)``.
  @frozen public struct ReplaceError<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = Never

    public let output: Upstream.Output
    public let upstream: Upstream

    @inlinable public init(upstream: Upstream, output: Output) {
      self.upstream = upstream
      self.output = output
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      upstream.receive(
        stage: ReplaceErrorStage<Output, Upstream.Failure>(ErasedSubscriber(subscriber), output))
    }
  }
}

extension Publishers.ReplaceError: Equatable where Upstream: Equatable, Upstream.Output: Equatable {}

@usableFromInline final class ReplaceErrorStage<Input, Failure: Error>: ValuesAndLastStage<Input, Never>, Subscriber {
  @usableFromInline let output: Input

  @inlinable init(_ down: ErasedSubscriber<Input, Never>, _ output: Input) {
    self.output = output
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { takesEvents ? pass(input) : .none }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished: finish(.finished)
    case .failure: finish(with: output, isAsked: demand > .none)
    }
  }
}
