extension Publisher {
  /// Holds up to `size` values that the subscriber has not requested yet.
  ///
  ///     upstream    --a-b-c-d----|
  ///     buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)
  ///     demand      --1-------3--
  ///     downstream  --a-------cd-|
  ///
  /// ![buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest)](marbles-buffer.svg)
  ///
  /// As in Combine, `.finished` follows the last held value and, like a value, needs a request. **Demand:**
  /// `.byRequest` requests everything from upstream; `.keepFull` requests `size` values and then one more with each
  /// value delivered. **Failure:** upstream's failure comes after the held values if they have been requested,
  /// otherwise immediately. A failure made by `whenFull` comes with the next request, after the values that this
  /// request delivers. Values that are still held at that point are dropped and reported. **Cancellation:** drops the
  /// held values. **Policy:** buffers up to `size`; then `whenFull` decides.
  ///
  /// - Parameters:
  ///   - size: the number of values to hold. With 0 and `.byRequest`, no value is held, and `whenFull` decides what
  ///     happens to values that have not been requested. With 0 and `.keepFull`, nothing could be requested from
  ///     upstream, so the first value traps.
  ///   - prefetch: the rule for requesting values from upstream.
  ///   - whenFull: decides what happens to a value for which there is no room. Dropped values are reported to
  ///     ``StreamDiagnostics/onDrop(_:)``.
  @inlinable public func buffer(
    size: Int, prefetch: Publishers.PrefetchStrategy, whenFull: Publishers.BufferingStrategy<Failure>
  ) -> Publishers.Buffer<Self> {
    Publishers.Buffer(upstream: self, size: size, prefetch: prefetch, whenFull: whenFull)
  }
}

extension Publishers {
  /// See ``Publisher/buffer(size:prefetch:whenFull:)``.
  public struct Buffer<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let size: Int
    public let prefetch: PrefetchStrategy
    public let whenFull: BufferingStrategy<Failure>

    public init(
      upstream: Upstream, size: Int, prefetch: PrefetchStrategy, whenFull: BufferingStrategy<Failure>
    ) {
      precondition(size >= 0, "buffer(size: \(size)): the size cannot be negative; use 0 or more")
      self.upstream = upstream
      self.size = size
      self.prefetch = prefetch
      self.whenFull = whenFull
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      guard size == 0, prefetch == .keepFull else {
        let stage = BufferStage<Output, Failure>(ErasedSubscriber(subscriber), size, prefetch, whenFull)
        return upstream.receive(stage: stage, through: upstream.gateOfHolder)
      }
      // A buffer without room would request nothing, and no value would ever arrive. Request one value, which traps, to
      // reveal the mistake.
      upstream.map { (_: Output) -> Output in
        preconditionFailure("buffer(size: 0, prefetch: .keepFull): there is no room for a value; use 1 or more")
      }.receive(subscriber: BufferStage<Output, Failure>(ErasedSubscriber(subscriber), 1, prefetch, whenFull))
    }
  }
}
