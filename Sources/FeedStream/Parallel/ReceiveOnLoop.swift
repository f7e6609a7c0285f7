extension EventLoop: ElsewhereScheduler {}

extension Publisher where Output: Sendable {
  /// Delivers values and the completion on `loop`, which may run on another thread.
  ///
  ///     upstream    --a--b--c--|
  ///     receive(on: loop)
  ///     downstream  --a--b--c--|   on a later turn of the loop
  ///
  /// Where `loop` is the one on which the stream lives, this is ``Publisher/receive(on:options:)``. Otherwise what is below lives on `loop`
  /// from then on. Values that are ready cross together and wake the loop once, in their order; so does what is
  /// requested on the way back. As with a dispatch queue, closures below that point run on the other thread: what they
  /// capture must be theirs.
  ///
  /// **Demand:** passes through. A subscriber that requests everything has no limit to what may wait; a `buffer` below,
  /// with `.keepFull`, sets one. **Failure:** comes after the values. **Cancellation:** may come from either side;
  /// nothing is delivered after it, and upstream is cancelled on a later turn of its own loop. **Policy:** keeps
  /// requested values until their turn. When `loop` is closed they are dropped, and reported to
  /// ``StreamDiagnostics/onDrop(_:)``, and upstream is cancelled.
  ///
  /// - Parameter loop: delivers the values.
  @inlinable public func receive(on loop: EventLoop) -> Publishers.ReceiveOn<Self, EventLoop> {
    Publishers.ReceiveOn(crossing: self, to: loop)
  }
}
