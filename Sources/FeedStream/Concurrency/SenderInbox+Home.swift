/// The loop's side.
extension SenderInbox {
  func begin() {
    target.state.watch(ObjectIdentifier(self)) { [weak self] in self?.changed() }
    updateWaiting()
  }

  /// Subscribers have come, asked or gone. It may be within a delivery: whatever follows comes on a later turn.
  func changed() {
    if mutex.withLock({ !waiting.isEmpty }) { noteChange() } else { updateWaiting() }
  }

  /// Delivers what has come, and what comes meanwhile, up to so much that the loop should look at its other work.
  @inlinable func takeAll() {
    let deliver = target.deliver
    var count = 0
    mutex.lock()
    while !pending.isEmpty, count < 4096 {
      swap(&pending, &running)
      mutex.unlock()
      count += running.count
      for index in running.indices { deliver(running[index]) }
      // The memory of a great burst goes with it.
      running.removeAll(keepingCapacity: running.count <= 65_536)
      mutex.lock()
    }
    // Without values that wait, nor an ending, this is all.
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

  /// Delivers what waits and is wanted now, then the ending; comes back for what has come meanwhile.
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

  /// Takes the first value that waits and has not been taken back.
  func nextWaiting() -> (Output, UnsafeContinuation<SendOutcome, Never>)? {
    mutex.withLock {
      while let value = waiting.popFirst() { if let answer = value.answer.take() { return (value.value, answer) } }
      return nil
    }
  }

  /// Keeps the loop running while something may come that somebody waits for.
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
