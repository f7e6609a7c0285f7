extension Publisher {
  /// Holds values that the subscriber has not asked for yet, up to a number of them.
  ///
  ///     upstream    --a-b-c-d----|
  ///     buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)
  ///     demand      --1-------2--
  ///     downstream  --a-------c-d|
  ///
  /// ![buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)](marbles-buffer.svg)
  ///
  /// As in Combine, finishing follows the last value held and waits to be asked for as a value does. **Demand:**
  /// `.byRequest` asks upstream for everything; `.keepFull` asks for `size` values and then for one more with each
  /// value delivered. **Failure:** upstream's, after the values held if they have been asked for, at once if not; one
  /// made by `whenFull` comes with the next request, after the values which that asks for. What is still held then is
  /// dropped, and reported. **Cancellation:** discards what is held. Policy: buffers up to `size`; then `whenFull`
  /// decides.
  ///
  /// - Parameters:
  ///   - size: how many values to hold. With 0 and `.byRequest` it holds none, and what has not been asked for is for
  ///     `whenFull` to deal with; with `.keepFull`, upstream could not be asked for anything, and that traps.
  ///   - prefetch: how much to ask upstream for.
  ///   - whenFull: what to do with a value for which there is no room. What is dropped is reported to
  ///     ``StreamDiagnostics/onDrop(_:)``.
  @inlinable public func buffer(
    size: Int, prefetch: Publishers.PrefetchStrategy, whenFull: Publishers.BufferingStrategy<Failure>
  ) -> Publishers.Buffer<Self> {
    Publishers.Buffer(upstream: self, size: size, prefetch: prefetch, whenFull: whenFull)
  }
}

extension Publishers {
  /// When a buffer asks upstream for values.
  public enum PrefetchStrategy: Hashable, Sendable {
    /// As many as there is room for.
    case keepFull
    /// Everything, at once.
    case byRequest
  }

  /// What a buffer does with a value for which there is no room.
  public enum BufferingStrategy<Failure: Error> {
    /// Drops it.
    case dropNewest
    /// Drops the value held longest.
    case dropOldest
    /// Cancels upstream and fails.
    case customError(() -> Failure)
  }

  /// See ``Publisher/buffer(size:prefetch:whenFull:)``.
  public struct Buffer<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let size: Int
    public let prefetch: PrefetchStrategy
    public let whenFull: BufferingStrategy<Failure>

    public init(
      upstream: Upstream, size: Int, prefetch: PrefetchStrategy, whenFull: BufferingStrategy<Failure>
    ) {
      precondition(size >= 0, "buffer(size: \(size)): a number of values cannot be negative; use 1 or more")
      self.upstream = upstream
      self.size = size
      self.prefetch = prefetch
      self.whenFull = whenFull
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      guard size == 0, prefetch == .keepFull else {
        upstream.receive(
          subscriber: BufferStage<Output, Failure>(ErasedSubscriber(subscriber), size, prefetch, whenFull))
        return
      }
      // Upstream would be asked for nothing, and nothing would ever come: the first value tells.
      upstream.map { (_: Output) -> Output in
        preconditionFailure("buffer(size: 0, prefetch: .keepFull): there is no room to ask for a value; use 1 or more")
      }.receive(subscriber: BufferStage<Output, Failure>(ErasedSubscriber(subscriber), 1, prefetch, whenFull))
    }
  }
}

@usableFromInline final class BufferStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  /// What drops are reported under.
  @usableFromInline let name: StaticString
  @usableFromInline let size: Int
  @usableFromInline let prefetch: Publishers.PrefetchStrategy
  @usableFromInline let whenFull: Publishers.BufferingStrategy<Failure>
  /// Whether an ending waits for demand as a value does; so it is in Combine's buffer.
  @usableFromInline let endingWaits: Bool
  /// Calls `drain()`. Formed where the types are known: a request comes through the class's table, where nothing is
  /// specialized, and would deliver all that is held at five times the cost.
  @usableFromInline let serve: (BufferStage) -> Subscribers.Demand
  @exclusivity(unchecked) @usableFromInline var values = FIFO<Input>()
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isDraining = false
  /// The ending that waits for its turn.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) @usableFromInline var hasEnding = false
  @exclusivity(unchecked) @usableFromInline var hasBegun = false

  @inlinable init(
    _ down: ErasedSubscriber<Input, Failure>, _ size: Int, _ prefetch: Publishers.PrefetchStrategy,
    _ whenFull: Publishers.BufferingStrategy<Failure>, endingWaits: Bool = true, name: StaticString = "Buffer"
  ) {
    self.name = name
    self.endingWaits = endingWaits
    self.size = size
    self.prefetch = prefetch
    self.whenFull = whenFull
    serve = { $0.drain() }
    super.init(down)
  }

  override func began() {
    up?.request(prefetch == .keepFull ? .max(size) : .unlimited)
    guard isLive else { return }
    hasBegun = true
    super.began()
    // Upstream may have ended in the request.
    if hasEnding { _ = drain() }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive else { return .none }
    if hasEnding { if case .failure = ending { return .none } }
    if values.isEmpty, !isDraining, demand > .none { return deliver(input) }
    if values.count >= size, !makeRoom(for: input) { return .none }
    values.append(input)
    return drain()
  }

  /// Delivers a value that need not wait, without holding it first.
  @inlinable func deliver(_ input: Input) -> Subscribers.Demand {
    demand.takeOne()
    isDraining = true
    demand += down.receive(input)
    isDraining = false
    let more = values.isEmpty && !hasEnding ? .none : drain()
    return prefetch == .keepFull && isLive ? more + 1 : more
  }

  /// Whether there is room for `input` now.
  @inlinable func makeRoom(for input: Input) -> Bool {
    switch whenFull {
    case .dropNewest:
      StreamDiagnostics.dropped(input, name, .bufferFull)
      return false
    case .dropOldest:
      guard let oldest = values.popFirst() else {
        StreamDiagnostics.dropped(input, name, .bufferFull)
        return false
      }
      StreamDiagnostics.dropped(oldest, name, .bufferFull)
      return true
    case .customError(let makeError):
      StreamDiagnostics.dropped(input, name, .bufferFull)
      ending = .failure(makeError())
      hasEnding = true
      // Kept, though it is cancelled: what has been delivered is still asked for again, as in Combine.
      up?.cancel()
      // What is held comes first: the failure follows it when it is asked for.
      return false
    }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive, !hasEnding else { return }
    ending = completion
    hasEnding = true
    up = nil
    _ = drain()
  }

  override var takesNone: Bool { true }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    let up = self.up
    let more = serve(self)
    if more > .none { up?.request(more) }
  }

  override func cancelled() {
    super.cancelled()
    values.removeAll()
  }

  /// Delivers what has been asked for, in order, then the ending.
  ///
  /// - Returns: how many values there is room for again.
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
    // Values that nobody has asked for do not hold a failure back.
    switch ending {
    case .finished: if values.isEmpty, demand > .none || !endingWaits { finish(ending) }
    case .failure:
      guard values.isEmpty || demand == .none else { return }
      while let value = values.popFirst() { StreamDiagnostics.dropped(value, name, .noDemand) }
      finish(ending)
    }
  }
}
