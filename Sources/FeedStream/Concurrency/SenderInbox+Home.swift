/// The part of the inbox that runs on the loop.
extension SenderInbox {
  func begin() {
    target.state.watch(ObjectIdentifier(self)) { [weak self] in self?.changed() }
    updateWaiting()
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

  /// Delivers the waiting values that have demand, then the completion, then the values that have arrived in the
  /// meantime.
  @usableFromInline func goOn() {
    while target.state.isWanted() || target.state.isEnded(), let (value, answer) = nextWaiting() {
      let delivery = target.deliverTold(value)
      answer.resume(returning: delivery.isTerminated ? .ended : .sent(delivery))
    }
    mutex.lock()
    let isAgain = !pending.isEmpty
    let ending = isAgain ? nil : self.ending.take()
    let refused = ending == nil ? FIFO() : waiting
    if ending != nil { waiting = FIFO() }
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

  /// Takes the first waiting value that has not been withdrawn.
  func nextWaiting() -> (Output, UnsafeContinuation<SendOutcome, Never>)? {
    mutex.withLock {
      while let value = waiting.popFirst() { if let answer = value.answer.take() { return (value.value, answer) } }
      return nil
    }
  }

  /// Keeps the loop running while a subscriber waits for a value that may still arrive.
  func updateWaiting() {
    let (isOpen, isWaited) = mutex.withLock {
      while !waiting.isEmpty, waiting[0].answer == nil { _ = waiting.popFirst() }
      return (self.isOpen, !waiting.isEmpty)
    }
    let mustWait = isWaited || keepsLoopAlive && isOpen && !target.state.isEnded() && target.state.isAlive()
    guard mustWait != isWaiting else { return }
    isWaiting = mustWait
    if mustWait {
      domain.beginWaiting()
      domain.whenClosed(ObjectIdentifier(self)) { [weak self] in self?.abandon() }
    } else {
      domain.stopWaiting()
      domain.whenClosed(ObjectIdentifier(self), nil)
    }
  }
}
