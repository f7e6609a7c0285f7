/// One publisher at a time, made of upstream's values: what `switchToLatest`, `flatMapFirst` and `concatMap` share. They
/// differ in what happens to a value that arrives while a publisher runs.
@usableFromInline
final class FlatteningStage<Input, Output, Failure: Error>: SequentialStage<Output, Failure>, Subscriber {
  /// Makes a publisher of a value and has the inlet given subscribe to it, or the stage take it.
  @usableFromInline let attach: (Input, FlatteningStage, Upstream?) -> Void
  @usableFromInline let whenBusy: WhenBusy
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?
  @exclusivity(unchecked) @usableFromInline var isFinished = false
  /// True when upstream's ending was passed on. As in Combine's `switchToLatest`, an upstream that breaks the rules and
  /// ends again after that is not corrected.
  @exclusivity(unchecked) private var endsWithUpstream = false
  /// True while a publisher runs, or is about to.
  @exclusivity(unchecked) @usableFromInline var isBusy = false
  @exclusivity(unchecked) @usableFromInline var waiting = FIFO<Input>()

  @inlinable init<P: Publisher>(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, _ whenBusy: WhenBusy,
    _ make: @escaping (Input) -> P
  ) where P.Output == Output, P.Failure == Failure {
    self.whenBusy = whenBusy
    attach = { input, stage, inlet in
      let publisher = make(input)
      if let inlet { publisher.receive(subscriber: inlet) } else { stage.take(publisher) }
    }
    super.init(name, down)
  }

  @usableFromInline func receive(subscription: any Subscription) {
    guard isActive, up == nil, !isFinished else { return subscription.cancel() }
    up = subscription
    subscription.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard isActive, !isFinished else { return .none }
    switch whenBusy {
    case .isDropped where isBusy: StreamDiagnostics.dropped(input, name, .busy)
    case .waits where isBusy: waiting.append(input)
    default: start(input)
    }
    return .none
  }

  @inlinable func start(_ input: Input) {
    isBusy = true
    if isSubscribing { subscribe { [self] in attach(input, self, $0) } } else { attach(input, self, nil) }
  }

  /// Puts `publisher` in the current one's place; not while this is subscribing. What a sequence or a `Just` has is
  /// delivered without a subscription, which costs three allocations, while everything is asked for.
  @inlinable func take<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
    // Before the cancellation, which may come back here.
    isSubscribing = true
    current.take()?.cancel()
    if isTaking {
      let isDelivered =
        demand == .unlimited
        && publisher.deliverAll {
          if isTaking { _ = pass($0) }
          return isTaking
        }
      if isDelivered {
        if isTaking { finished() }
      } else {
        let inlet = Upstream(self)
        current = inlet
        publisher.receive(subscriber: inlet)
      }
    }
    subscribeToUpcoming()
  }

  /// True while what is being taken is wanted: no cancellation, and no other upstream in its place.
  @inlinable var isTaking: Bool { isActive && upcoming == nil }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    if endsWithUpstream, !isCancelled { return down.receive(completion: completion) }
    guard isActive, !isFinished else { return }
    up = nil
    isFinished = true
    if case .finished = completion, isBusy { return }
    reportWaiting()
    endsWithUpstream = whenBusy == .replaces
    end(completion)
  }

  override func ended(_ completion: Subscribers.Completion<Failure>) {
    guard case .finished = completion else {
      reportWaiting()
      return end(completion)
    }
    finished()
  }

  /// The current publisher has finished.
  @inlinable func finished() {
    isBusy = false
    // Not `isEmpty`, for which the queue's type would be looked up where it is not known.
    if waiting.count > 0, let next = waiting.popFirst() { return start(next) }
    if isFinished { end(.finished) }
  }

  /// A failure comes before the turn of what waits.
  private func reportWaiting() {
    while let input = waiting.popFirst() { StreamDiagnostics.dropped(input, name, .terminated) }
  }

  /// As in Combine's `switchToLatest`.
  override var leavesLate: Bool { whenBusy == .replaces }

  override var takesNone: Bool { !isActive }

  override func cancelUpstreams() {
    let up = self.up.take()
    super.cancelUpstreams()
    waiting.removeAll()
    up?.cancel()
  }
}

/// What a value does that arrives while a publisher made of another runs.
@usableFromInline enum WhenBusy {
  /// It takes over.
  case replaces
  /// It is dropped, and reported.
  case isDropped
  /// It waits for its turn.
  case waits
}

extension Publisher {
  /// Delivers to `subscriber` the values of one publisher at a time, made of the values of this one.
  @inlinable func flatten<P: Publisher, S: Subscriber>(
    _ name: StaticString, _ whenBusy: WhenBusy, into subscriber: S, _ make: @escaping (Output) -> P
  ) where P.Output == S.Input, P.Failure == S.Failure, Failure == S.Failure {
    let stage = FlatteningStage<Output, P.Output, Failure>(name, ErasedSubscriber(subscriber), whenBusy, make)
    stage.down.receive(subscription: stage)
    receive(subscriber: stage)
  }
}
