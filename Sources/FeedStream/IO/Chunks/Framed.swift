extension Publisher where Output == Chunk {
  /// Delivers the values that `decoder` makes from the bytes. Chunks may end anywhere.
  ///
  ///     upstream    --he---llo,wo--rld--|
  ///     framed(by: words)
  ///     downstream  -------hello--------(world)|
  ///
  /// **Demand:** requests one chunk at a time, and only when there is demand and the bytes received so far don't
  /// contain another value. **Failure:** upstream's, after all values from the bytes before it have been requested and
  /// delivered; bytes of an incomplete value are dropped. **Cancellation:** passes through. **Policy:** holds one
  /// chunk, and the bytes that the decoder keeps.
  public func framed<Decoder: ChunkDecoder>(
    by decoder: Decoder
  ) -> Publishers.Framed<Self, Decoder, Publishers.NonThrowing<Failure>> where Decoder.DecodingFailure == Never {
    Publishers.Framed(upstream: self, decoder: decoder)
  }

  /// Delivers the values that `decoder` makes from the bytes, and fails with the decoder's error.
  ///
  /// **Demand, failure, cancellation, policy:** as in `framed(by:)`; an error that the decoder throws cancels upstream.
  public func framed<Decoder: ChunkDecoder>(
    by decoder: Decoder
  ) -> Publishers.Framed<Self, Decoder, Publishers.Throwing<Failure>> where Decoder.DecodingFailure == any Error {
    Publishers.Framed(upstream: self, decoder: decoder)
  }
}

extension Publishers {
  /// See `framed(by:)`.
  public struct Framed<Upstream: Publisher, Decoder: ChunkDecoder, Mode: FailureMode>: Publisher
  where Upstream.Output == Chunk, Mode.UpstreamFailure == Upstream.Failure, Mode.RuleError == Decoder.DecodingFailure {
    public typealias Output = Decoder.Output
    public typealias Failure = Mode.Failure

    public let upstream: Upstream
    public let decoder: Decoder

    @inlinable public init(upstream: Upstream, decoder: Decoder) {
      self.upstream = upstream
      self.decoder = decoder
    }

    @_documentation(visibility: internal)
    @inlinable public var _deliversAtHome: Bool { upstream._deliversAtHome }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: FramedStage<Decoder, Mode>(ErasedSubscriber(subscriber), decoder))
    }
  }
}

@usableFromInline
final class FramedStage<Decoder: ChunkDecoder, Mode: Publishers.FailureMode>: Stage<Decoder.Output, Mode.Failure>,
  Subscriber
where Mode.RuleError == Decoder.DecodingFailure {
  @usableFromInline typealias Input = Chunk
  @usableFromInline typealias Failure = Mode.UpstreamFailure

  /// The decoder; `nil` once the stream is over.
  @exclusivity(unchecked) @usableFromInline var decoder: Decoder?
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isServing = false
  /// True if a chunk was requested from upstream and has not arrived.
  @exclusivity(unchecked) @usableFromInline var isWaiting = false
  /// Upstream's completion.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Mode.Failure>?
  /// The next value from the remaining bytes, which has not been requested yet.
  @exclusivity(unchecked) @usableFromInline var upcoming: Decoder.Output?
  /// Calls `serve()`. Created where the types are known: a request arrives through the class's vtable, where nothing is
  /// specialized.
  @usableFromInline let serveSpecialized: (FramedStage) -> Bool

  @inlinable init(_ down: ErasedSubscriber<Decoder.Output, Mode.Failure>, _ decoder: Decoder) {
    self.decoder = decoder
    serveSpecialized = { $0.serve() }
    super.init(down)
  }

  @inlinable func receive(_ input: Chunk) -> Subscribers.Demand {
    guard takesEvents, ending == nil else { return .none }
    isWaiting = false
    decoder?.feed(input)
    // Call `serve()` through the closure, because upstream may call this method in its unspecialized form.
    guard !isServing, serveSpecialized(self) else { return .none }
    isWaiting = true
    return .max(1)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Mode.UpstreamFailure>) {
    guard takesEvents, ending == nil else { return }
    ending = completion.mapError(Mode.failure(ofUpstream:))
    isWaiting = false
    up = nil
    if !isServing { _ = serveSpecialized(self) }
  }

  @usableFromInline override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    guard !isServing, !isWaiting else { return }
    // This loop also serves a chunk that arrives during the request, so that the stack stays flat.
    while serveSpecialized(self) {
      isWaiting = true
      isServing = true
      up?.request(.max(1))
      isServing = false
      guard isLive else { return release() }
      if isWaiting { return }
    }
  }

  @usableFromInline override func cancelled() {
    super.cancelled()
    // A decoder that reports errors may run a closure that cancels. Don't release the decoder until that closure has
    // returned.
    if !isServing { release() }
  }

  /// Delivers available values on demand, and the completion when it is due.
  ///
  /// - Returns: true if another chunk is needed.
  @inlinable func serve() -> Bool {
    isServing = true
    defer {
      isServing = false
      if !isLive { release() }
    }
    do throws(Mode.RuleError) {
      while isLive, ending == nil {
        guard demand > .none else { return false }
        guard let output = try decoder?.next() else { break }
        demand -= 1
        demand += down.receive(output)
      }
      guard isLive else { return false }
      if ending == nil { return true }
      try serveRest()
    } catch {
      release()
      stop(.failure(Mode.failure(ofRule: error)))
    }
    return false
  }

  /// Delivers the remaining values on demand, and then the completion, which needs no demand.
  @inlinable @inline(never) func serveRest() throws(Mode.RuleError) {
    while isLive, let ending {
      if upcoming == nil { upcoming = try decoder?.next() }
      if upcoming == nil, case .finished = ending { upcoming = try decoder?.finish() }
      guard let output = upcoming else {
        release()
        return finish(ending)
      }
      guard demand > .none else { return }
      upcoming = nil
      demand -= 1
      demand += down.receive(output)
    }
  }

  @usableFromInline func release() {
    discard(decoder.take())
    discard(upcoming.take())
  }
}
