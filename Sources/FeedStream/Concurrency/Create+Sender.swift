extension Create.Emitter where Output: Sendable {
  /// A sender to this emitter that any thread may use, for callbacks on other threads.
  ///
  /// While this sender exists, and the subscription is neither cancelled nor completed, ``EventLoop/run(_:)`` does not
  /// return, unless ``Publisher/keepsLoopAlive(_:)`` says otherwise.
  ///
  /// - Precondition: the subscriber subscribed on a loop, or on a thread that has one.
  public var sender: StreamSender<Output, Failure> {
    guard Home.current != nil else {
      halt(
        """
        Create: emitter.sender needs the stream's event loop, but this thread has none. Make an EventLoop on this \
        thread before you subscribe, and call its run() last; if an asynchronous main, RunLoop.main.run() or \
        dispatchMain() runs the program, use EventLoop.main before you subscribe. Or write .subscribe(on:) with a \
        queue directly below the Create.
        """)
    }
    let state = SenderTargetState(
      isWanted: { self.demand > .none }, isAlive: { self.isActive }, isEnded: { !self.isActive },
      watch: { key, changed in
        self.watchers.removeAll { $0.key == key }
        if let changed { self.watchers.append((key, changed)) }
      })
    let target = SenderTarget<Output, Failure>(
      deliver: { self.send($0) },
      deliverTold: {
        guard self.isActive else { return Delivery(isTerminated: true) }
        self.send($0)
        return Delivery(delivered: 1)
      },
      end: { self.send(completion: $0) }, state: state)
    return StreamSender(SenderInbox(target, on: nil, keepsLoopAlive: Home.isKeeping))
  }
}
