extension Publisher {
  /// Delivers the values and the completion as ``Signal`` values, and then finishes.
  ///
  ///     upstream    --a---------b---------#
  ///     materialize()
  ///     downstream  --value(a)--value(b)--completion(#)|
  ///
  /// **Demand:** passes through; the completion counts as a value and waits for demand. **Failure:** becomes a value.
  /// **Cancellation:** passes through. **Policy:** forwards.
  @inlinable public func materialize() -> Publishers.Materialize<Self> { Publishers.Materialize(upstream: self) }

  /// Turns signals back into a stream: delivers their values, and completes with the first completion among them.
  ///
  ///     upstream    --value(a)--completion(#)--value(b)--|
  ///     dematerialize()
  ///     downstream  --a---------#
  ///
  /// **Demand:** passes through. One more signal is requested, because it may be the completion, which needs no demand.
  /// **Cancellation:** passes through; a completion among the signals cancels upstream. **Failure:** a failure among
  /// the signals; upstream itself cannot fail. **Policy:** forwards, and holds one value that has not been requested.
  @inlinable public func dematerialize<T, E: Error>() -> Publishers.Dematerialize<Self, T, E>
  where Output == Signal<T, E>, Failure == Never {
    Publishers.Dematerialize(upstream: self)
  }
}

extension Publishers {
  /// See ``Publisher/materialize()``.
  @frozen public struct Materialize<Upstream: Publisher>: Operator {
    public typealias Output = Signal<Upstream.Output, Upstream.Failure>
    public typealias Failure = Never

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      upstream.receive(
        stage: MaterializeStage<Upstream.Output, Upstream.Failure>(ErasedSubscriber(subscriber)))
    }
  }

  /// See ``Publisher/dematerialize()``.
  @frozen
  public struct Dematerialize<Upstream: Publisher<Signal<Output, Failure>, Never>, Output, Failure: Error>: Operator {
    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: DematerializeStage<Output, Failure>(ErasedSubscriber(subscriber)))
    }
  }
}

extension Publishers.Materialize: Equatable where Upstream: Equatable {}
extension Publishers.Dematerialize: Equatable where Upstream: Equatable {}

@usableFromInline
final class MaterializeStage<Input, Failure: Error>: ValuesAndLastStage<Signal<Input, Failure>, Never>, Subscriber {
  @inlinable override init(_ down: ErasedSubscriber<Signal<Input, Failure>, Never>) { super.init(down) }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { takesEvents ? pass(.value(input)) : .none }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    finish(with: .completion(completion), isAsked: demand > .none)
  }
}

/// Requests one signal more than the number of requested values, because that signal may be the completion, which needs
/// no demand. If the extra signal is a value, it is held.
@usableFromInline final class DematerializeStage<Output, Failure: Error>: Stage<Output, Failure>, Subscriber {
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var held: Output?
  /// The completion that follows the held value.
  @exclusivity(unchecked) private var ending: Subscribers.Completion<Failure>?

  @usableFromInline override init(_ down: ErasedSubscriber<Output, Failure>) { super.init(down) }

  override func began() {
    super.began()
    up?.request(.max(1))
  }

  @inlinable func receive(_ input: Signal<Output, Failure>) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    switch input {
    case .value(let value):
      guard demand > .none else {
        discard(exchange(&held, with: value))
        return .none
      }
      demand.takeOne()
      var more = down.receive(value)
      demand += more
      if held != nil { more += deliverHeld() }
      return more
    case .completion(let completion):
      end(completion)
      return .none
    }
  }

  @usableFromInline func end(_ completion: Subscribers.Completion<Failure>) {
    guard takesEvents else { return }
    guard held != nil else { return stop(completion) }
    phase = .draining
    ending = completion
    up.take()?.cancel()
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Never>) { end(.finished) }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive || phase == .draining else { return }
    self.demand += demand
    let more = demand + deliverHeld()
    if isLive { up?.request(more) }
  }

  /// Delivers the held value, if it is requested, and then the completion that waits for it.
  ///
  /// - Returns: the subscriber's further demand.
  @inline(never) @usableFromInline func deliverHeld() -> Subscribers.Demand {
    guard demand > .none, let value = held.take() else { return .none }
    demand.takeOne()
    let more = down.receive(value)
    demand += more
    guard phase == .draining, held == nil, let ending = ending.take() else { return more }
    phase = .ended
    down.receive(completion: ending)
    return .none
  }

  override func forget() {
    discard(held.take())
    discard(ending.take())
  }
}
