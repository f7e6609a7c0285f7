import Synchronization

/// Turns the live map of streams on and off, and finds the list to which a new stream belongs.
@usableFromInline enum LiveMap {
  /// Read for each new subscription and each new boundary of a chain, but not for values.
  @usableFromInline static var isOn: Bool { on.load(ordering: .relaxed) }

  private static let on = Atomic(false)
  private static let homes = Mutex<[Home]>([])

  /// A loop that has had streams since the map was turned on.
  struct Home {
    fileprivate(set) weak var domain: (any StreamDomain)?
    let label: String
  }

  static func turn(on isOn: Bool) {
    // Call this first, because it may evaluate the environment variables.
    Warnings.mapIs(on: isOn)
    on.store(isOn, ordering: .relaxed)
    Introspection.mapIs(on: isOn)
  }

  /// Turns the map on because the environment variable says so.
  static func begin() {
    on.store(true, ordering: .relaxed)
    Introspection.mapIs(on: true)
  }

  /// The list for streams made by the calling code: its loop's, or else its thread's.
  static func here() -> LoopMap {
    guard let domain = CurrentDomain.get() ?? CurrentDomain.resting(), let live = domain.subscriptions else {
      return ofThread()
    }
    if let map = live.map { return map }
    let map = LoopMap(domain)
    live.map = map
    domain.mapBegan()
    let home = Home(domain: domain, label: domain.label)
    homes.withLock { homes in
      homes.removeAll { $0.domain == nil }
      homes.append(home)
    }
    domain.whenClosed(ObjectIdentifier(map)) { [weak domain] in
      homes.withLock { homes in homes.removeAll { $0.domain === domain } }
    }
    return map
  }

  static var loops: [Home] { homes.withLock { $0.filter { $0.domain != nil } } }

  // Retains the thread's `LoopMap` until the thread ends.
  private static let slot = CurrentDomain.newSlot { Unmanaged<LoopMap>.fromOpaque($0).release() }

  /// Called when this thread begins a piece of work for a domain, or ends it, so that the times of streams without a
  /// loop are read again.
  static func turnBegins() {
    guard let map = CurrentDomain.value(in: slot) else { return }
    Unmanaged<LoopMap>.fromOpaque(map).takeUnretainedValue().turnBegins()
  }

  /// The list of the streams that live on this thread without a loop.
  static func ofThread() -> LoopMap {
    if let map = CurrentDomain.value(in: slot) { return Unmanaged<LoopMap>.fromOpaque(map).takeUnretainedValue() }
    let map = LoopMap(nil)
    CurrentDomain.set(Unmanaged.passRetained(map).toOpaque(), in: slot)
    return map
  }

  /// Attaches a subscriber of an unknown type, so that it becomes a node. This method isn't specialized: the chain is
  /// slow while the map is on.
  ///
  /// - Returns: false when `subscriber` is known, and nothing has happened.
  static func attach<P: Publisher, S: Subscriber<P.Output, P.Failure>>(_ subscriber: S, to publisher: P) -> Bool {
    let bare = unerased(subscriber)
    if bare is any LiveSubscriber || bare is any LinkToEnd || bare is any MapMember || bare is any Traceable {
      return false
    }
    let end = MapEnd(subscriber, named: operatorName(of: type(of: bare)))
    publisher.receive(subscriber: end)
    if end.isLive, !end.isOnQueue { here().add(end, nil, end.tally) }
    return true
  }
}

/// A subscriber that represents a known end of a stream, such as that of `sink`.
protocol LinkToEnd {}
