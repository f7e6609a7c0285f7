/// Delivers the values that a closure sends, at any time and from any callback.
///
///     Create<Event, Never>(size: 16, whenFull: .dropOldest) { emitter in
///       let handle = device.listen { emitter.send($0) }
///       emitter.onCancel { handle.close() }
///     }
///
///     sent        --a--b--c--|
///     demand      1--------2---
///     downstream  --a------bc|
///
/// The closure runs once for each subscriber, after the subscriber has received its subscription. An error that the
/// closure throws ends the stream. If your source can wait, send only requested values: see ``Emitter/onRequest(_:)``.
/// Callbacks on other threads send through ``Emitter/sender``.
///
/// **Demand:** a value sent before it is requested is held. `.finished` follows the held values, and needs no request.
/// **Policy:** holds up to `size` values, 256 by default. When a value does not fit, `whenFull` decides; by default,
/// the new value is dropped. Drops are reported to ``StreamDiagnostics/onDrop(_:)``. **Failure:** a failure that is
/// sent or thrown is delivered immediately; held values that have not been requested are dropped and reported. An error
/// from `whenFull` is delivered with the next request, after the values that this request delivers. Values that are
/// still held at that point are dropped and reported. **Cancellation:** runs the cleanup given to
/// ``Emitter/onCancel(_:)``, and drops the held values.
public struct Create<Output, Failure: Error>: Publisher, _DeliversAtHome {
  @usableFromInline let size: Int
  @usableFromInline let whenFull: Publishers.BufferingStrategy<Failure>
  @usableFromInline let body: (Emitter) throws(Failure) -> Void

  /// - Parameters:
  ///   - size: the number of unrequested values to hold, more than zero; `.max` means no limit.
  ///   - whenFull: decides what happens to a value for which there is no room.
  ///   - body: sends values and the completion, now or later; throws to end the stream.
  @inlinable public init(
    size: Int = 256, whenFull: Publishers.BufferingStrategy<Failure> = .dropNewest,
    _ body: @escaping (Emitter) throws(Failure) -> Void
  ) {
    precondition(size > 0, "Create(size: \(size)): the buffer has no room; use 1 or more")
    self.size = size
    self.whenFull = whenFull
    self.body = body
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let buffer = BufferStage<Output, Failure>(
      ErasedSubscriber(subscriber), size, .byRequest, whenFull, endingWaits: false, name: "Create")
    let emitter = Emitter(buffer)
    buffer.onRequest = { emitter.requested() }
    buffer.onJoin = { emitter.gate = $0 }
    buffer.receive(subscription: CancellationSubscription { emitter.end() })
    guard emitter.isActive else { return }
    do throws(Failure) {
      try body(emitter)
    } catch {
      emitter.send(completion: .failure(error))
    }
  }

  /// Receives the values that the closure of a ``Create`` sends.
  public final class Emitter {
    @exclusivity(unchecked) @usableFromInline var buffer: BufferStage<Output, Failure>?
    /// The gate of a stage below, through which everything is sent; set before the closure runs.
    @exclusivity(unchecked) @usableFromInline var gate: (any EntryGate)?
    private var cleanUps: [() -> Void] = []
    private var asks: ((Subscribers.Demand) throws(Failure) -> Void)?
    private var isAsking = false
    /// The events that were sent on other threads.
    private let line = EventLine()
    /// True when a completion has been sent. Sending a value after that causes a warning; sending one after a
    /// cancellation doesn't.
    private var hasCompleted = false
    private var mustAskAgain = false
    /// Callbacks that tell each sender about requests and about the end of the stream.
    var watchers: [(key: ObjectIdentifier, changed: () -> Void)] = []

    @usableFromInline init(_ buffer: BufferStage<Output, Failure>) { self.buffer = buffer }

    /// True while a sent value can still arrive.
    @inlinable public var isActive: Bool { buffer != nil }

    /// The outstanding demand of the subscriber: this many values can be sent without being held.
    @inlinable public var demand: Subscribers.Demand { buffer?.demand ?? .none }

    /// Delivers `value`, or holds it until it is requested. If the emitter isn't active, the value is dropped and
    /// reported.
    @inlinable public func send(_ value: Output) {
      guard let gate else { return sendHere(value) }
      guard gate.enter() else { return bring(to: gate) { [self] in sendHere(value) } }
      sendHere(value)
      gate.leave()
    }

    @inline(never) @usableFromInline func bring(to gate: any EntryGate, _ event: @escaping () -> Void) {
      line.add(event) { gate.perform($0) }
    }

    @inlinable func sendHere(_ value: Output) {
      guard let buffer else { return refuse(value) }
      let standing = buffer.demand
      _ = buffer.receive(value)
      // The delivery subtracts one from the demand. If the demand has not fallen, the subscriber has requested more.
      if buffer.demand > .none, standing != .unlimited, buffer.demand >= standing { requested() }
    }

    @inline(never) @usableFromInline func refuse(_ value: Output) {
      StreamDiagnostics.dropped(value, "Create", .terminated)
      if !StreamDiagnostics.isWatched, hasCompleted {
        Warnings.sentLate("Create", at: "Create<\(Output.self), \(Failure.self)>")
      }
    }

    /// Ends the stream: `.finished` follows the held values; a failure is delivered immediately.
    public func send(completion: Subscribers.Completion<Failure>) {
      guard let gate else { return sendHere(completion: completion) }
      guard gate.enter() else { return bring(to: gate) { [self] in sendHere(completion: completion) } }
      sendHere(completion: completion)
      gate.leave()
    }

    private func sendHere(completion: Subscribers.Completion<Failure>) {
      let buffer = self.buffer
      hasCompleted = true
      end()
      buffer?.receive(completion: completion)
    }

    /// Runs `produce` with the outstanding demand whenever the subscriber requests values, and immediately if there is
    /// demand already.
    ///
    /// If a source sends that many values and then waits, no value is held or dropped:
    ///
    ///     emitter.onRequest { _ in
    ///       while emitter.demand > .none, let line = readLine() { emitter.send(line) }
    ///     }
    ///
    /// If the subscriber requests values while `produce` runs, `produce` runs again after it has returned. An error
    /// that `produce` throws ends the stream. A second call replaces the first closure.
    public func onRequest(_ produce: @escaping (Subscribers.Demand) throws(Failure) -> Void) {
      guard isActive else { return }
      asks = produce
      requested()
    }

    /// Runs `cleanUp` once, when the subscriber cancels or the stream completes; immediately if either has already
    /// happened.
    public func onCancel(_ cleanUp: @escaping () -> Void) {
      if isActive { cleanUps.append(cleanUp) } else { cleanUp() }
    }

    @usableFromInline func requested() {
      for watcher in watchers { watcher.changed() }
      guard !isAsking else {
        mustAskAgain = true
        return
      }
      isAsking = true
      defer { isAsking = false }
      repeat {
        mustAskAgain = false
        guard let asks, demand > .none else { return }
        do throws(Failure) {
          try asks(demand)
        } catch {
          send(completion: .failure(error))
        }
      } while mustAskAgain
    }

    @usableFromInline func end() {
      discard(buffer.take())
      asks = nil
      for cleanUp in cleanUps.take() { cleanUp() }
      for watcher in watchers { watcher.changed() }
    }
  }
}
