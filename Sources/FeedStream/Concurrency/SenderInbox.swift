/// Holds the values that have been sent to a stream and have not reached it yet.
///
/// A mutex guards the values until the loop takes all of them. A sender wakes the loop only when no delivery is
/// scheduled or running. The scheduled work is a ``LoopErrand``: if the errand is released without having run, the loop
/// is closed.
// @unchecked: the mutex guards the state that several threads use; the rest is used only at the stream's home.
@usableFromInline final class SenderInbox<Output: Sendable, Failure: Error>: @unchecked Sendable {
  // Guarded by the mutex.
  @usableFromInline let mutex = SystemMutex()
  @exclusivity(unchecked) @usableFromInline var pending = ContiguousArray<Output>()
  @exclusivity(unchecked) @usableFromInline var isScheduled = false
  /// True while values are accepted: no completion has been sent, and the loop is not closed.
  @exclusivity(unchecked) @usableFromInline var isOpen = true
  /// True when there are only plain values to deliver: no waiting value and no completion.
  @exclusivity(unchecked) @usableFromInline var isPlain = true
  /// The total number of values that the loop has taken out of `pending`.
  @exclusivity(unchecked) @usableFromInline var taken = 0
  @exclusivity(unchecked) var isClosed = false
  @exclusivity(unchecked) var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) var waiting = FIFO<Place>()
  /// The number of values in `waiting` that have been withdrawn.
  @exclusivity(unchecked) var withdrawn = 0

  // Used only at home.
  @exclusivity(unchecked) @usableFromInline var running = ContiguousArray<Output>()
  @exclusivity(unchecked) var isWaiting = false
  /// True while the stream tells this inbox about its subscribers.
  @exclusivity(unchecked) var isWatching = false
  @usableFromInline let target: SenderTarget<Output, Failure>

  let domain: any StreamDomain
  let keepsLoopAlive: Bool
  /// Identifies this inbox until the stream has forgotten it, which may be after its release.
  let key = Key()
  /// Calls `takeAll()`. Created where the types are known, so that the call is specialized.
  private let serve: (SenderInbox) -> Void

  /// A place in the queue of values that wait for demand.
  // @unchecked: the inbox's mutex guards the variables.
  final class Place: @unchecked Sendable {
    /// The value and its sender; `nil` once the value has been delivered, refused or withdrawn.
    var content: (value: Output, answer: UnsafeContinuation<SendOutcome, Never>)?
    /// The value follows this many of the values that are sent without waiting.
    var predecessors = 0
    var isCancelled = false
  }

  @inlinable convenience init(
    _ target: SenderTarget<Output, Failure>, on loop: (any LoopScheduler)?, keepsLoopAlive: Bool
  ) {
    self.init(target, on: loop, keepsLoopAlive) { $0.takeAll() }
  }

  @usableFromInline init(
    _ target: SenderTarget<Output, Failure>, on loop: (any LoopScheduler)?, _ keepsLoopAlive: Bool,
    serve: @escaping (SenderInbox) -> Void
  ) {
    let domain = loop.map { $0 as? any StreamDomain } ?? StreamHome.current.domain
    guard let domain else {
      fatalError(
        loop == nil
          ? "sender: this thread has no event loop; pass the stream's loop: sender(on: loop), or sender(on: EventLoop.main) if code on the main queue subscribes"
          : "sender(on:): values can be sent only to an EventLoop or a VirtualTimeScheduler; pass one of these")
    }
    // A sender, which any thread may hold, doesn't keep the loop alive.
    self.domain = domain.reference
    self.target = target
    self.keepsLoopAlive = keepsLoopAlive
    self.serve = serve
    StreamHome(domain: domain).run { [weak self] in self?.updateWaiting() }
  }

  deinit {
    let remains = Remains(
      target: target, key: key, isWatching: isWatching, isWaiting: isWaiting, domain: domain)
    // If the loop closes first, the stream must still forget this inbox.
    if domain.isHere { remains.clear() } else { domain.bringCancellation { remains.clear() } }
  }

  final class Key: Sendable {}

  /// The contents of a released inbox, which are moved to the stream's home to be released there.
  // @unchecked: no other code has a reference to it.
  private final class Remains: @unchecked Sendable {
    private let key: Key
    private let isWatching: Bool
    private let isWaiting: Bool
    private let domain: any StreamDomain
    private var target: SenderTarget<Output, Failure>?

    init(
      target: SenderTarget<Output, Failure>, key: Key, isWatching: Bool, isWaiting: Bool,
      domain: any StreamDomain
    ) {
      (self.target, self.key, self.isWatching, self.isWaiting) = (target, key, isWatching, isWaiting)
      self.domain = domain
    }

    func clear() {
      if isWatching {
        target?.state.watch(ObjectIdentifier(key), nil)
        domain.whenClosed(ObjectIdentifier(key), nil)
      }
      if isWaiting { domain.stopWaiting() }
      target = nil
    }
  }
}

// MARK: - On any thread

extension SenderInbox {
  @inlinable func post(_ value: Output) -> Bool {
    mutex.lock()
    guard isOpen else {
      mutex.unlock()
      refuse(value)
      return false
    }
    pending.append(value)
    let mustWake = !isScheduled
    isScheduled = true
    mutex.unlock()
    return !mustWake || wakeForValue()
  }

  @inline(never) @usableFromInline func refuse(_ value: Output) {
    lose(value)
    if mutex.withLock({ isClosed }) { return warnOfClosedLoop() }
    guard Warnings.areOn, !StreamDiagnostics.isWatched else { return }
    Warnings.sentLate("StreamSender", at: name)
  }

  /// - Returns: true if the loop will receive the added value.
  @inline(never) @usableFromInline func wakeForValue() -> Bool {
    if wake() { return true }
    warnOfClosedLoop()
    return false
  }

  private func warnOfClosedLoop() {
    guard Warnings.areOn, !StreamDiagnostics.isWatched else { return }
    Warnings.sentToClosedLoop("\(name): a value", at: name)
  }

  private var name: String { "StreamSender<\(Output.self), \(Failure.self)>" }

  private func lose(_ value: Output) { StreamDiagnostics.dropped(value, "StreamSender", .terminated) }

  @usableFromInline func post(_ completion: Subscribers.Completion<Failure>) -> Bool {
    mutex.lock()
    guard isOpen else {
      mutex.unlock()
      return false
    }
    isOpen = false
    ending = completion
    isPlain = false
    let mustWake = !isScheduled
    isScheduled = true
    mutex.unlock()
    return !mustWake || wake()
  }

  /// Schedules the work that takes the arrived values.
  ///
  /// - Returns: false if the loop is closed: the loop has then released the errand without running it, and all values
  ///   are refused.
  @discardableResult @usableFromInline func wake() -> Bool {
    domain.bring({ [self] in serve(self) }, dropped: { [self] in abandon() })
    return mutex.withLock { !isClosed }
  }

  @usableFromInline func sendWhenWanted(_ value: Output) async -> SendOutcome {
    let place = Place()
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { enqueue(value, $0, at: place) }
    } onCancel: {
      withdraw(place)
    }
  }

  private func enqueue(_ value: Output, _ answer: UnsafeContinuation<SendOutcome, Never>, at place: Place) {
    mutex.lock()
    if let refusal: SendOutcome = place.isCancelled ? .cancelled : isClosed ? .closed : isOpen ? nil : .ended {
      mutex.unlock()
      return answer.resume(returning: refusal)
    }
    place.content = (value, answer)
    place.predecessors = taken + pending.count
    waiting.append(place)
    isPlain = false
    let mustWake = !isScheduled
    isScheduled = true
    mutex.unlock()
    if mustWake { wake() }
  }

  private func withdraw(_ place: Place) {
    let content = mutex.withLock {
      place.isCancelled = true
      let content = place.content.take()
      if content != nil { leavePlace() }
      return content
    }
    guard let content else { return }
    content.answer.resume(returning: .cancelled)
    // The loop may have waited for this value.
    noteChange()
  }

  /// Counts an empty place in the queue. When most places are empty, removes them; this costs amortized O(1).
  private func leavePlace() {
    withdrawn += 1
    guard withdrawn > 32, withdrawn > waiting.count / 2 else { return }
    var all = waiting.take()
    while let place = all.popFirst() { if place.content != nil { waiting.append(place) } }
    withdrawn = 0
  }

  /// Called when the loop is closed: drops the values and refuses new ones.
  func abandon() {
    var lost = ContiguousArray<Output>()
    let waiting = mutex.withLock {
      isOpen = false
      isClosed = true
      isScheduled = false
      ending = nil
      swap(&pending, &lost)
      return self.waiting.take()
    }
    for value in lost { lose(value) }
    answer(waiting, .closed)
  }

  func answer(_ values: consuming FIFO<Place>, _ outcome: SendOutcome) {
    while let place = values.popFirst() {
      mutex.withLock { place.content.take() }?.answer.resume(returning: outcome)
    }
  }

  /// Makes the loop check the state again.
  func noteChange() {
    let mustWake = mutex.withLock {
      isPlain = false
      guard !isScheduled, !isClosed else { return false }
      isScheduled = true
      return true
    }
    if mustWake { wake() }
  }
}
