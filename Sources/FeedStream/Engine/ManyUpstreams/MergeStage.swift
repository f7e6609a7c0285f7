/// Merges several upstreams into one subscriber: the stage of `flatMap` and `merge`.
///
/// **Demand:** unlimited for each inlet while the subscriber's demand is unlimited. Otherwise, each inlet requests one
/// value at a time, and a value without demand waits: at most one per inlet. No value is lost.
@usableFromInline class MergeStage<Output, Failure: Error>: Junction<Output, Failure> {
  @exclusivity(unchecked) @usableFromInline final var isDraining = false
  /// True while a value that didn't have to wait is delivered; the subscriber may then request more.
  @exclusivity(unchecked) @usableFromInline final var isDelivering = false
  @exclusivity(unchecked) @usableFromInline
  final var waiting = FIFO<(inlet: Inlet<MergePort<Output, Failure>>, value: Output)>()
  @exclusivity(unchecked) @usableFromInline final var inlets: ContiguousArray<AnyInlet> = []
  /// The number of publishers that are delivering without an inlet; the completion waits for them.
  @exclusivity(unchecked) @usableFromInline final var directDeliveries = 0
  /// True while upstreams may be added.
  @exclusivity(unchecked) @usableFromInline final var isOpen = true
  /// The failure that arrived during a delivery, while values waited.
  @exclusivity(unchecked) @usableFromInline final var failure: Subscribers.Completion<Failure>?

  // Inlinable, because an unspecialized initializer would look up the types of the queue and its elements.
  @inlinable override init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, following: ThreadGate.Following = .never
  ) {
    super.init(name, down, following: following)
  }

  // MARK: Upstreams

  /// Adds an inlet for another upstream.
  @inlinable final func addInlet() -> Inlet<MergePort<Output, Failure>> {
    let inlet = Inlet<MergePort<Output, Failure>>(self, index: inlets.count)
    // After the cancellation, nothing would remove the inlet again.
    if isActive { inlets.append(inlet) }
    return inlet
  }

  /// Called when no more upstreams will be added.
  @inlinable final func close() {
    isOpen = false
    finishIfDone()
  }

  /// Called when an upstream has finished and its values have been delivered; `flatMap` requests the next one.
  @inlinable func inletFinished() {}

  @inlinable final func began(_ inlet: Inlet<MergePort<Output, Failure>>) {
    guard isActive else { return inlet.cancel() }
    inlet.isUnlimited = demand == .unlimited
    inlet.request(inlet.isUnlimited ? .unlimited : .max(1))
  }

  @inlinable final func receive(_ value: Output, _ inlet: Inlet<MergePort<Output, Failure>>) -> Subscribers.Demand {
    guard isActive else { return .none }
    if demand == .unlimited, waiting.isEmpty {
      _ = down.receive(value)
    } else if demand == .none || isDraining || !waiting.isEmpty {
      waiting.append((inlet, value))
      inlet.waiting += 1
      return .none
    } else {
      demand.takeOne()
      let isNested = isDelivering
      isDelivering = true
      demand += down.receive(value)
      isDelivering = isNested
      if !waiting.isEmpty {
        drain()
        // A failure that still waits has cancelled all upstreams.
        if failure != nil { return .none }
      }
    }
    return more(for: inlet)
  }

  /// The demand for an inlet whose value has been delivered.
  @inlinable final func more(for inlet: Inlet<MergePort<Output, Failure>>) -> Subscribers.Demand {
    if inlet.isUnlimited || !isActive { return .none }
    guard demand == .unlimited else { return .max(1) }
    inlet.isUnlimited = true
    return .unlimited
  }

  @inlinable
  final func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<MergePort<Output, Failure>>) {
    remove(inlet)
    switch completion {
    case .finished:
      finishIfDone()
      // While values of this inlet wait, `flatMap` doesn't start another upstream, which would only add to them.
      inlet.finishesLate = inlet.waiting > 0
      if isActive, !inlet.finishesLate { inletFinished() }
    case .failure:
      fail(completion)
    }
  }

  /// Removes `inlet` from the list, if it is there.
  @inlinable final func remove(_ inlet: Inlet<MergePort<Output, Failure>>) {
    guard inlet.index < inlets.count, inlets[inlet.index] === inlet else { return }
    let last = inlets.removeLast()
    guard last !== inlet else { return }
    last.index = inlet.index
    inlets[inlet.index] = last
  }

  // MARK: Downstream

  @inlinable override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    guard !isDraining else { return }
    // Don't use `isEmpty`: in unspecialized code, which serves requests, it would look up the queue's type.
    if waiting.count > 0 { drain() }
    if isActive, self.demand == .unlimited {
      for inlet in inlets where inlet.isLive && !inlet.isUnlimited {
        inlet.isUnlimited = true
        inlet.request(.unlimited)
      }
    }
  }

  /// Delivers the waiting values in order; values that arrive in the meantime join the queue, and the stack stays flat.
  @inlinable final func drain() {
    guard !isDraining else { return }
    isDraining = true
    while isActive, demand > .none, let (inlet, value) = waiting.popFirst() {
      demand.takeOne()
      inlet.waiting -= 1
      demand += down.receive(value)
      let more = more(for: inlet)
      if more > .none { inlet.request(more) }
      if inlet.finishesLate, inlet.waiting == 0, isActive {
        inlet.finishesLate = false
        inletFinished()
      }
    }
    isDraining = false
    if let failure { fail(failure) } else { finishIfDone() }
  }

  @inlinable final func finishIfDone() {
    if isActive, !isOpen, inlets.isEmpty, waiting.count == 0, directDeliveries == 0 { end(.finished) }
  }

  /// Reports the waiting values as dropped and fails. During a delivery, the waiting values that are requested come
  /// first.
  @inlinable final func fail(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    if isDraining || isDelivering, waiting.count > 0 {
      failure = failure ?? completion
      return stopUpstreams()
    }
    while waiting.count > 0, let (_, value) = waiting.popFirst() { StreamDiagnostics.dropped(value, name, .terminated) }
    end(completion)
  }

  @inlinable override func cancelUpstreams() {
    if waiting.count > 0 { waiting.removeAll() }
    stopUpstreams()
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams = inlets.flatMap(\.visible)
    facts.held = waiting.count
  }

  @usableFromInline func stopUpstreams() {
    guard !inlets.isEmpty else { return }
    let inlets = self.inlets
    self.inlets = []
    for inlet in inlets { inlet.cancel() }
  }
}

@usableFromInline enum MergePort<Output, Failure: Error>: Port {
  @usableFromInline typealias Input = Output
  @usableFromInline typealias Owner = MergeStage<Output, Failure>

  @inlinable static func began(_ inlet: Inlet<Self>) { inlet.owner.began(inlet) }
  @inlinable static func receive(_ input: Output, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    inlet.owner.receive(input, inlet)
  }
  /// As in Combine, if an upstream delivers values after its completion, they pass while other upstreams run.
  @inlinable static func takesStray(afterEnding: Bool) -> Bool { true }
  @inlinable static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion, inlet)
  }
}
