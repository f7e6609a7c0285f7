/// The part of the inbox that runs on the loop.
extension SenderInbox {
  private func watch() {
    isWatching = true
    target.state.watch(ObjectIdentifier(key)) { [weak self] in self?.changed() }
    domain.whenClosed(ObjectIdentifier(key)) { [weak self] in self?.loopClosed() }
  }

  /// Stops watching the stream, which any thread may use once the loop is closed.
  private func loopClosed() {
    target.state.watch(ObjectIdentifier(key), nil)
    isWatching = false
    if isWaiting { abandon() }
  }

  /// Called when subscribers have attached, requested values or cancelled. This may happen during a delivery, so
  /// waiting values are delivered on a later turn.
  func changed() {
    if mutex.withLock({ !waiting.isEmpty }) { noteChange() } else { updateWaiting() }
  }

  /// Delivers the values that have arrived, and those that arrive in the meantime, up to a limit. After that, the loop
  /// gets time for other work.
  @inlinable func takeAll() {
    let deliver = target.deliver
    var count = 0
    mutex.lock()
    while !pending.isEmpty, count < 4096 {
      taken &+= pending.count
      swap(&pending, &running)
      mutex.unlock()
      count += running.count
      for index in running.indices { deliver(running[index]) }
      // Keep the memory, unless a large burst has enlarged it.
      running.removeAll(keepingCapacity: running.count <= 65_536)
      mutex.lock()
    }
    // If no values wait for demand and there is no completion, only values that have just arrived are left.
    if isPlain {
      let isAgain = !pending.isEmpty
      isScheduled = isAgain
      mutex.unlock()
      if isAgain { wake() }
    } else {
      mutex.unlock()
      goOn()
    }
  }

  /// Delivers the waiting values that have demand, up to a limit, and then the completion. Values that have arrived in
  /// the meantime, or are over the limit, are delivered on a later turn, before the completion.
  @usableFromInline func goOn() {
    var left = 64
    var isWanted = canDeliver
    while isWanted, left > 0, let (value, answer) = nextWaiting() {
      let delivery = target.deliverTold(value)
      answer.resume(returning: delivery.isTerminated ? .ended : .sent(delivery))
      left -= 1
      isWanted = canDeliver
    }
    mutex.lock()
    removeWithdrawn()
    // The senders of values that have arrived since the last check count on this delivery.
    let isAgain = !pending.isEmpty || isWanted && !waiting.isEmpty
    let ending = isAgain ? nil : self.ending.take()
    let refused = ending == nil ? FIFO() : waiting.take()
    isPlain = self.ending == nil && waiting.isEmpty
    isScheduled = isAgain
    mutex.unlock()
    if let ending {
      target.end(ending)
      answer(refused, .ended)
    }
    if isAgain { wake() }
    updateWaiting()
  }

  /// True if a waiting value can be delivered or refused.
  private var canDeliver: Bool { target.state.isWanted() || target.state.isEnded() }

  /// Takes the first waiting value that has not been withdrawn; `nil` if values that were sent before it are pending.
  private func nextWaiting() -> (value: Output, answer: UnsafeContinuation<SendOutcome, Never>)? {
    mutex.withLock {
      removeWithdrawn()
      guard !waiting.isEmpty, waiting[0].predecessors <= taken else { return nil }
      return waiting.removeFirst().content.take()
    }
  }

  /// Removes the empty places at the front of the queue. Call this with the mutex locked.
  private func removeWithdrawn() {
    while !waiting.isEmpty, waiting[0].content == nil {
      _ = waiting.removeFirst()
      withdrawn -= 1
    }
  }

  /// Keeps the loop running while a subscriber waits for a value that may still arrive.
  func updateWaiting() {
    // The first value may arrive before the work that the initializer posts.
    if !isWatching { watch() }
    let (isOpen, isWaited) = mutex.withLock {
      removeWithdrawn()
      return (self.isOpen, !waiting.isEmpty)
    }
    let mustWait = isWaited || keepsLoopAlive && isOpen && !target.state.isEnded() && target.state.isAlive()
    guard mustWait != isWaiting else { return }
    isWaiting = mustWait
    if mustWait { domain.beginWaiting() } else { domain.stopWaiting() }
  }
}
