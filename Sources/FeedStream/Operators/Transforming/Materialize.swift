extension Publisher {
  /// Delivers the values and the ending as ``Signal`` values, and then finishes.
  ///
  ///     upstream    --a--b--#
  ///     materialize()
  ///     downstream  --value(a)--value(b)--completion(#)|
  ///
  /// **Demand:** passes through; the ending counts as a value and waits until asked for. **Failure:** becomes a value.
  /// **Cancellation:** passes through. Policy: forwards.
  @inlinable public func materialize() -> Publishers.Materialize<Self> { Publishers.Materialize(upstream: self) }

  /// Turns signals back into a stream: delivers their values, and ends with the first ending among them.
  ///
  ///     upstream    --value(a)--completion(#)--value(b)--|
  ///     dematerialize()
  ///     downstream  --a---------#
  ///
  /// **Demand, cancellation:** pass through; an ending among the signals cancels upstream. **Failure:** the failure
  /// among the signals; upstream itself cannot fail. Policy: forwards.
  @inlinable public func dematerialize<T, E: Error>() -> Publishers.Dematerialize<Self, T, E>
  where Output == Signal<T, E>, Failure == Never {
    Publishers.Dematerialize(upstream: self)
  }
}

extension Publishers {
  /// See ``Publisher/materialize()``.
  @frozen public struct Materialize<Upstream: Publisher>: Publisher {
    public typealias Output = Signal<Upstream.Output, Upstream.Failure>
    public typealias Failure = Never

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      upstream.receive(
        subscriber: MaterializeStage<Upstream.Output, Upstream.Failure>(ErasedSubscriber(subscriber)))
    }
  }

  /// See ``Publisher/dematerialize()``.
  @frozen public struct Dematerialize<Upstream: Publisher, Output, Failure: Error>: Publisher
  where Upstream.Output == Signal<Output, Failure>, Upstream.Failure == Never {
    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(subscriber: DematerializeStage<Output, Failure>(ErasedSubscriber(subscriber)))
    }
  }
}

extension Publishers.Materialize: Equatable where Upstream: Equatable {}
extension Publishers.Dematerialize: Equatable where Upstream: Equatable {}

@usableFromInline
final class MaterializeStage<Input, Failure: Error>: ValuesAndLastStage<Signal<Input, Failure>, Never>, Subscriber {
  @inlinable override init(_ down: ErasedSubscriber<Signal<Input, Failure>, Never>) { super.init(down) }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { isLive ? pass(.value(input)) : .none }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    finish(with: .completion(completion), isAsked: demand > .none)
  }
}

@usableFromInline final class DematerializeStage<Output, Failure: Error>: Stage<Output, Failure>, Subscriber {
  @usableFromInline override init(_ down: ErasedSubscriber<Output, Failure>) { super.init(down) }

  @inlinable func receive(_ input: Signal<Output, Failure>) -> Subscribers.Demand {
    guard isLive else { return .none }
    switch input {
    case .value(let value): return down.receive(value)
    case .completion(let completion):
      stop(completion)
      return .none
    }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Never>) { finish(.finished) }
}
