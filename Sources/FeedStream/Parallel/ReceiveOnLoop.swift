extension EventLoop: ElsewhereScheduler {}

extension Publisher where Output: Sendable {
  /// Delivers values and the completion on `loop`, which may run on another thread.
  ///
  ///     upstream    --a--b--c--|
  ///     receive(on: loop)
  ///     downstream  --a--b--c--|   on a later turn of the loop
  ///
  /// If the stream already lives on `loop`, this is ``Publisher/receive(on:options:)``. Otherwise, the part below this
  /// operator lives on `loop`. Values that are ready cross together, in order, and wake the loop once; so do requests
  /// in the other direction. As with a dispatch queue, closures below this operator run on the other thread, and must
  /// not share captured state with the part above.
  ///
  /// **Demand:** passes through. If the subscriber requests everything, the number of waiting values is unlimited; a
  /// `buffer` with `.keepFull` below limits it. **Failure:** comes after the values. **Cancellation:** you may cancel
  /// on either thread; nothing is delivered afterwards, and upstream is cancelled on a later turn of its own loop.
  /// **Policy:** holds requested values until they are delivered. When `loop` is closed, they are dropped and reported
  /// to ``StreamDiagnostics/onDrop(_:)``, and upstream is cancelled.
  ///
  /// - Parameter loop: the loop on which the values are delivered.
  @inlinable public func receive(on loop: EventLoop) -> Publishers.ReceiveOn<Self, EventLoop> {
    Publishers.ReceiveOn(crossing: self, to: loop)
  }

  /// Delivers values and the completion on the scheduler's event loop, which may run on another thread.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/receive(on:)``.
  @_documentation(visibility: internal) @inlinable
  public func receive(on scheduler: AnyLoopScheduler) -> Publishers.ReceiveOn<Self, AnyLoopScheduler> {
    Publishers.ReceiveOn(crossing: self, to: scheduler)
  }
}
