extension Publishers {
  /// Delivers what a closure sends, whenever and from whatever callback it sends it.
  ///
  ///     Publishers.Create<Event, Never>(size: 16, whenFull: .dropOldest) { emitter in
  ///       let handle = device.listen { emitter.send($0) }
  ///       emitter.onCancel { handle.close() }
  ///     }
  ///
  ///     sent        --a--b--c--|
  ///     demand      1--------2---
  ///     downstream  --a------bc|
  ///
  /// The closure runs once per subscriber, when it subscribes, after the subscriber has its subscription.
  ///
  /// **Demand:** what is sent before it is asked for is held; the ending follows it, and waits for no request of its
  /// own. **Policy:** of what does not fit in `size`, `whenFull` decides; what is dropped is reported to
  /// ``StreamDiagnostics/onDrop(_:)``. **Failure:** the closure's, at once when what is held has not been asked for;
  /// `whenFull`'s, with the next request, after the values which that asks for. What is still held then is dropped, and
  /// reported. **Cancellation:** runs what the closure gave to ``Emitter/onCancel(_:)``, and discards what is held.
  public struct Create<Output, Failure: Error>: Publisher {
    private let size: Int
    private let whenFull: BufferingStrategy<Failure>
    private let body: (Emitter) -> Void

    /// - Parameters:
    ///   - size: how many values to hold; more than zero, everything by default.
    ///   - whenFull: what to do with a value for which there is no room.
    ///   - body: sends values and the ending, now or later.
    public init(
      size: Int = .max, whenFull: BufferingStrategy<Failure> = .dropNewest, _ body: @escaping (Emitter) -> Void
    ) {
      precondition(size > 0, "Create(size: \(size)): values need room to wait in; use 1 or more")
      self.size = size
      self.whenFull = whenFull
      self.body = body
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let buffer = BufferStage<Output, Failure>(
        ErasedSubscriber(subscriber), size, .byRequest, whenFull, endingWaits: false, name: "Create")
      let emitter = Emitter(buffer)
      buffer.receive(subscription: CancellationSubscription { emitter.end() })
      if emitter.isActive { body(emitter) }
    }

    /// Where the closure of a ``Publishers/Create`` sends its values.
    public final class Emitter {
      private var buffer: BufferStage<Output, Failure>?
      private var cleanUps: [() -> Void] = []

      init(_ buffer: BufferStage<Output, Failure>) { self.buffer = buffer }

      /// Whether what is sent can still arrive.
      public var isActive: Bool { buffer != nil }

      /// Delivers `value`, or holds it until it is asked for. Dropped, and reported, once not active.
      public func send(_ value: Output) {
        guard let buffer else { return StreamDiagnostics.dropped(value, "Create", .terminated) }
        _ = buffer.receive(value)
      }

      /// Ends the stream, after the values held.
      public func send(completion: Subscribers.Completion<Failure>) {
        let buffer = self.buffer
        end()
        buffer?.receive(completion: completion)
      }

      /// Runs `cleanUp` once, when the subscriber cancels or the stream ends; at once when that has happened.
      public func onCancel(_ cleanUp: @escaping () -> Void) {
        if isActive { cleanUps.append(cleanUp) } else { cleanUp() }
      }

      fileprivate func end() {
        buffer = nil
        let cleanUps = self.cleanUps.take()
        for cleanUp in cleanUps { cleanUp() }
      }
    }
  }
}
