extension Publishers {
  /// The strategy by which a buffer requests values from upstream.
  public enum PrefetchStrategy: Hashable, Sendable {
    /// Requests as many values as there is room for.
    case keepFull
    /// Requests unlimited values, immediately.
    case byRequest
  }

  /// The reaction of a full buffer to a new value.
  public enum BufferingStrategy<Failure: Error> {
    /// Drops the new value.
    case dropNewest
    /// Drops the oldest value.
    case dropOldest
    /// Drops the new value, cancels upstream, and fails.
    case customError(() -> Failure)
  }
}

/// Holds values that the subscriber has not requested: the stage of `buffer`, `Create` and groups.
///
/// Upstream may deliver on one thread while the subscriber requests values on another. Both then go through the
/// gate of a `buffer` or a group; values that a `Create` sends go through the gate of a stage below, if there is one.
@usableFromInline final class BufferStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  /// The name under which drops are reported.
  @usableFromInline let name: StaticString
  @usableFromInline let size: Int
  @usableFromInline let prefetch: Publishers.PrefetchStrategy
  @usableFromInline let whenFull: Publishers.BufferingStrategy<Failure>
  /// True when the completion waits for demand like a value, as in Combine's buffer.
  @usableFromInline let endingWaits: Bool
  /// Calls `drain()`. Created where the types are known: a request arrives through the class's vtable, where nothing is
  /// specialized, and delivery would take five times as long.
  @usableFromInline let serve: (BufferStage) -> Subscribers.Demand
  @exclusivity(unchecked) @usableFromInline var values = FIFO<Input>()
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isDraining = false
  /// The completion, until it is delivered.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) @usableFromInline var hasEnding = false
  @exclusivity(unchecked) @usableFromInline var hasBegun = false
  /// Called after a request. Used by `Create`, whose source may produce on request.
  @exclusivity(unchecked) @usableFromInline var onRequest: (() -> Void)?
  /// Called with the gate of a stage below. Used by `Create`, which then sends its values through the gate.
  @exclusivity(unchecked) @usableFromInline var onJoin: ((any EntryGate) -> Void)?

  @inlinable init(
    _ down: ErasedSubscriber<Input, Failure>, _ size: Int, _ prefetch: Publishers.PrefetchStrategy,
    _ whenFull: Publishers.BufferingStrategy<Failure>, gate: (any EntryGate)? = nil, endingWaits: Bool = true,
    name: StaticString = "Buffer"
  ) {
    self.name = name
    self.endingWaits = endingWaits
    self.size = size
    self.prefetch = prefetch
    self.whenFull = whenFull
    serve = { $0.drain() }
    super.init(down)
    joint = gate
  }

  override func began() {
    up?.request(prefetch == .keepFull ? .max(size) : .unlimited)
    guard isLive else { return }
    hasBegun = true
    super.began()
    // Upstream may have completed during the request. If the buffer overflowed instead, the failure waits for demand.
    if hasEnding, up == nil { _ = drain() }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    if hasEnding { if case .failure = ending { return .none } }
    if values.isEmpty, !isDraining, demand > .none { return deliver(input) }
    return values.count < size ? keep(input) : overflow(input)
  }

  @inlinable func keep(_ input: Input) -> Subscribers.Demand {
    values.append(input)
    return drain()
  }

  /// Delivers a value that needn't wait, without adding it to the buffer.
  @inlinable func deliver(_ input: Input) -> Subscribers.Demand {
    demand.takeOne()
    isDraining = true
    demand += down.receive(input)
    isDraining = false
    let more = values.isEmpty && !hasEnding ? .none : drain()
    return prefetch == .keepFull && isLive ? more + 1 : more
  }

  /// Applies `whenFull`.
  @inlinable func overflow(_ input: Input) -> Subscribers.Demand {
    switch whenFull {
    case .dropNewest:
      StreamDiagnostics.dropped(input, name, .bufferFull)
      return .none
    case .dropOldest:
      guard let oldest = values.popFirst() else {
        StreamDiagnostics.dropped(input, name, .bufferFull)
        return .none
      }
      StreamDiagnostics.dropped(oldest, name, .bufferFull)
      guard isLive else { return .none }
      let more = keep(input)
      discard(oldest)
      return more
    case .customError(let makeError):
      StreamDiagnostics.dropped(input, name, .bufferFull)
      ending = .failure(makeError())
      hasEnding = true
      // Keep `up` after the cancellation: as in Combine, delivered values still lead to requests.
      if let gated = up as? HomeSubscriber<BufferStage> { gated.cancelAndStand() } else { up?.cancel() }
      // The buffered values come first; the failure follows once there is demand for it.
      return .none
    }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, !hasEnding else { return }
    ending = completion
    hasEnding = true
    discard(up.take())
    _ = drain()
  }

  override var takesNone: Bool { true }
  override var description: String { "\(name)" }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    let up = self.up
    let more = serve(self)
    if more > .none { up?.request(more) }
    // The failure of a full buffer has been delivered, and delivered values have led to their requests.
    if hasEnding, !isLive { (up as? HomeSubscriber<BufferStage>)?.dismiss() }
    if let onRequest, isLive { onRequest() }
  }

  override func joined(by gate: any EntryGate) {
    guard let onJoin else { return super.joined(by: gate) }
    joint = gate
    onJoin(gate)
  }

  override func forget() { values.removeAll() }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.demand = demand
    facts.held = values.count
    facts.capacity = size < .max ? size : nil
  }

  /// Delivers the requested values, in order, then the completion.
  ///
  /// - Returns: the demand for upstream: with `keepFull`, the number of places that have become free in the buffer.
  @inlinable func drain() -> Subscribers.Demand {
    guard !isDraining else { return .none }
    isDraining = true
    var delivered = 0
    while isLive, demand > .none, let value = values.popFirst() {
      demand.takeOne()
      demand += down.receive(value)
      delivered &+= 1
    }
    isDraining = false
    if hasEnding { endIfDrained() }
    return prefetch == .keepFull && (isLive || hasEnding) ? .max(delivered) : .none
  }

  @inline(never) @usableFromInline func endIfDrained() {
    guard isLive, hasBegun, let ending else { return }
    // Unrequested values do not delay a failure.
    switch ending {
    case .finished: if values.isEmpty, demand > .none || !endingWaits { finish(ending) }
    case .failure:
      guard values.isEmpty || demand == .none else { return }
      while let value = values.popFirst() {
        StreamDiagnostics.dropped(value, name, .noDemand, atFailure: true)
      }
      finish(ending)
    }
  }
}
