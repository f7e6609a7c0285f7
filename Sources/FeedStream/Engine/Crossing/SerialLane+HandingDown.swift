import Synchronization

/// The thread that hands down the lane's subscription, and threads that keep the lane occupied.
extension SerialLane {
  struct Handing {
    /// The home of the stream that receives the values; `nil` if that stream doesn't live on a loop.
    let home: (any StreamDomain)?
  }

  /// Runs `handDown` immediately, on this thread, before other code has access to the lane.
  ///
  /// - Parameters:
  ///   - home: the home of the stream that takes the subscription.
  ///   - afterwards: runs in the lane once the subscription has been handed down. Deliver values here, not earlier: if
  ///     their subscriber then subscribed to another publisher, that publisher would mistake the lane for its own.
  func begin(at home: (any StreamDomain)?, _ handDown: () -> Void, then afterwards: () -> Void = {}) {
    state.withLock { $0.isBusy = true }
    isRunning = true
    handing = Handing(home: home)
    inside {
      handDown()
      handing = nil
      afterwards()
    }
    stopRunning()
  }

  /// Runs `handDown` in the lane, which must be free or be running the calling code. See ``begin(at:_:then:)``.
  func handDown(at home: (any StreamDomain)?, _ handDown: () -> Void, then afterwards: () -> Void) {
    guard isHere else { return begin(at: home, handDown, then: afterwards) }
    let outer = (exchange(&handing, with: Handing(home: home)), exchange(&isApart, with: false))
    handDown()
    (handing, isApart) = outer
    afterwards()
  }

  package func apart(_ subscribe: () -> Void) {
    let outer = exchange(&isApart, with: handing != nil)
    subscribe()
    isApart = outer
  }

  /// True while the calling thread is handing down the lane's subscription.
  var isHandingDownHere: Bool { runner.load(ordering: .relaxed) == currentThread() && handing != nil }

  /// Makes the work of other threads wait until ``release()``, because `thread` entered the gate before the lane existed
  /// and is still inside. Call this before other code has access to the lane.
  func occupy(for thread: UInt) {
    state.withLock { $0.isBusy = true }
    runner.store(thread, ordering: .relaxed)
    keep()
  }

  /// Keeps the lane occupied by the calling thread, which is inside a gate that the lane serves, until ``release()``. Call
  /// this while the lane is occupied.
  func keep() { keepers += 1 }

  /// Called by a thread that kept the lane occupied: the last call lets the work of other threads run.
  func release() {
    keepers -= 1
    if keepers == 0, !isRunning { vacate() }
  }

  /// Called at the end of a function that ran the lane. Frees the lane, unless a gate keeps it occupied.
  func stopRunning() {
    isRunning = false
    if keepers == 0 { vacate() } else { runner.store(currentThread(), ordering: .relaxed) }
  }

  /// Runs the work that has arrived, if any; otherwise, frees the lane.
  private func vacate() {
    let isHeld = exchange(&self.isHeld, with: false)
    guard !freeIfEmpty() else { return isHeld ? letGo(place) : () }
    if isHeld { drainWhereItRuns() } else { begin() }
  }

  /// - Returns: false if there is work, in which case the lane stays busy.
  private func freeIfEmpty() -> Bool {
    state.withLock { state in
      // This thread leaves the lane, whichever thread runs the work.
      runner.store(0, ordering: .relaxed)
      state.isFed = false
      state.isBusy = !state.work.isEmpty
      return !state.isBusy
    }
  }

  /// The lane in which the calling code's stream is receiving its subscription.
  static var ofSubscriptionHandedDown: SerialLane? {
    guard CurrentDomain.hasQueues, let lane = CurrentDomain.get() as? SerialLane, lane.handing != nil, !lane.isApart
    else {
      return nil
    }
    return lane
  }
}
