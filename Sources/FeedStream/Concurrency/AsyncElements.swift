extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// A publisher of this sequence's elements. It awaits an element only after a value has been requested.
  ///
  ///     demand      1-----3----
  ///     elements    ---a------b--c--|
  ///     downstream  ---a------b--c--|     (b and the end are awaited only when requested)
  ///
  /// If you subscribe on an ``EventLoop``, or on a thread whose loop isn't running yet, the publisher delivers there.
  /// Otherwise, it delivers each element on the thread on which that element arrives. While an element is awaited, the
  /// loop keeps running, unless ``Publisher/keepsLoopAlive(_:)`` says otherwise.
  ///
  /// **Demand:** passed on. The next element, or the end, is awaited once the previous element has been delivered and
  /// another is requested. **Failure:** the error that the sequence throws. **Cancellation:** cancels the task that
  /// iterates. **Policy:** an element that arrives after the cancellation is dropped by design. An element for a closed
  /// loop is dropped and reported to ``StreamDiagnostics/onDrop(_:)``, and the sequence is not iterated further.
  public var publisher: Publishers.AsyncElements<Self> { Publishers.AsyncElements(elements: self) }
}

extension Publishers {
  /// See ``_Concurrency/AsyncSequence/publisher``.
  public struct AsyncElements<Elements: AsyncSequence & Sendable>: Publisher, _DeliversAtHome
  where Elements.Element: Sendable {
    public typealias Output = Elements.Element
    public typealias Failure = Elements.Failure

    public let elements: Elements

    public init(elements: Elements) { self.elements = elements }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      AsyncElementsSource(elements, ErasedSubscriber(subscriber)).handDown()
    }
  }
}

/// Iterates the sequence in a task that waits for demand before it awaits an element.
// @unchecked: used only at the stream's home, except the gate, which has a lock.
@usableFromInline
final class AsyncElementsSource<Elements: AsyncSequence & Sendable>: GuardedSubscription, @unchecked Sendable
where Elements.Element: Sendable {
  private let elements: Elements
  private let home = StreamHome.currentOrLane
  private let gate = DemandGate()
  /// The demand that has been requested but not served yet. While there is any demand, an element is awaited.
  private var owed = Subscribers.Demand.none
  private var isWaiting = false
  private var down: ErasedSubscriber<Elements.Element, Elements.Failure>?
  private var task: Task<Void, Never>?

  @usableFromInline init(_ elements: Elements, _ down: ErasedSubscriber<Elements.Element, Elements.Failure>) {
    self.elements = elements
    self.down = down
  }

  @usableFromInline func handDown() {
    home.handDown {
      self.confinement = self.home.confinement
      self.down?.receive(subscription: self)
    }
  }

  override func requested(_ demand: Subscribers.Demand) { home.run { self.begin(demand) } }

  private func begin(_ demand: Subscribers.Demand) {
    guard down != nil else { return }
    ask(demand)
    if task == nil { task = home.task { [self] in await iterate() } }
  }

  override func cancelled() {
    gate.close()
    home.runCancellation { self.stop() }
  }

  private func stop() {
    discard(down.take())
    updateWaiting()
    task?.cancel()
  }

  private func ask(_ demand: Subscribers.Demand) {
    owed += demand
    updateWaiting()
    gate.add(demand)
  }

  /// Keeps the loop running while an element is awaited.
  private func updateWaiting() {
    let mustWait = down != nil && owed > .none
    guard mustWait != isWaiting else { return }
    isWaiting = mustWait
    if mustWait { home.beginWaiting() } else { home.stopWaiting() }
  }

  private func iterate() async {
    var iterator = elements.makeAsyncIterator()
    do throws(Elements.Failure) {
      while await gate.pass() {
        guard let element = try await iterator.next(isolation: nil) else { return await end(.finished) }
        guard await home.perform({ self.deliver(element) }) else { return lose(element) }
      }
    } catch {
      await end(.failure(error))
    }
  }

  /// Reports an element that can't be delivered, because the loop is closed.
  private func lose(_ element: Elements.Element) {
    if !Task.isCancelled { StreamDiagnostics.dropped(element, "AsyncElements", .terminated) }
  }

  private func deliver(_ element: Elements.Element) {
    guard let down else { return }
    if owed != .unlimited { owed -= 1 }
    let more = down.receive(element)
    if more > .none, self.down != nil { ask(more) } else { updateWaiting() }
  }

  private func end(_ completion: Subscribers.Completion<Elements.Failure>) async {
    _ = await home.perform {
      let down = self.down.take()
      self.updateWaiting()
      down?.receive(completion: completion)
    }
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = owed
    facts.isOver = down == nil
  }

  override var description: String { "AsyncElements" }
}

extension AsyncElementsSource: Traceable {
  @usableFromInline var below: Any { down?.subscriber ?? () }
}

/// Lets a task pass once for each requested value.
private final class DemandGate: Sendable {
  private struct State {
    var demand = Subscribers.Demand.none
    var isClosed = false
    var waiter: UnsafeContinuation<Bool, Never>?
  }

  private let state = Locked(State())

  /// Waits for demand and subtracts one; returns `false` when the gate is closed.
  func pass() async -> Bool {
    await withUnsafeContinuation { continuation in
      let answer: Bool? = state.withLock { state in
        if state.isClosed { return false }
        if state.demand > .none {
          state.demand.takeOne()
          return true
        }
        state.waiter = continuation
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  func add(_ demand: Subscribers.Demand) {
    let waiter = state.withLock { state in
      state.demand += demand
      guard state.waiter != nil else { return nil as UnsafeContinuation<Bool, Never>? }
      state.demand.takeOne()
      return state.waiter.take()
    }
    waiter?.resume(returning: true)
  }

  func close() {
    let waiter = state.withLock { state in
      state.isClosed = true
      return state.waiter.take()
    }
    waiter?.resume(returning: false)
  }
}
