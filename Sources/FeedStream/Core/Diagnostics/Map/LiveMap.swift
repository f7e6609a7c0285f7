import Synchronization

/// Turns the live map of streams on and off, and finds the list to which a new stream belongs.
@usableFromInline enum LiveMap {
  /// True while the map is on. Read for each new subscription and each new boundary of a chain, but not for values.
  @usableFromInline static var isOn: Bool { on.load(ordering: .relaxed) }

  private static let on = Atomic(false)
  private static let homes = Mutex<[Home]>([])
  private static let queued = SweptList<QueuedPart>()

  /// A loop that has had streams since the map was turned on.
  struct Home {
    fileprivate let id: ObjectIdentifier
    /// The loop's `reference`: other threads read it, and must not be the last to release the loop.
    fileprivate(set) weak var domain: (any StreamDomain)?
    let label: String
  }

  /// A part of a stream that lives in a lane.
  private struct QueuedPart {
    weak var lane: (any StreamDomain & StreamLane)?
  }

  static func turn(on isOn: Bool) {
    // Call this first, because it may evaluate the environment variables.
    Warnings.mapIs(on: isOn)
    on.store(isOn, ordering: .relaxed)
    Introspection.mapIs(on: isOn)
  }

  /// Turns the map on because the `FEEDSTREAM_MAP` environment variable is `on`.
  static func begin() {
    on.store(true, ordering: .relaxed)
    Introspection.mapIs(on: true)
  }

  /// The list for streams made by the calling code: the list of its loop or lane, or else of its thread.
  static func here() -> LoopMap {
    let current = CurrentDomain.get() ?? CurrentDomain.resting()
    if let lane = current as? any StreamLane { return lane.map }
    guard let domain = current, let live = domain.subscriptions else { return ofThread() }
    if let map = live.map { return map }
    let map = LoopMap(domain)
    live.map = map
    domain.mapBegan()
    let id = ObjectIdentifier(map)
    let home = Home(id: id, domain: domain.reference, label: domain.label)
    homes.withLock { $0.append(home) }
    domain.whenClosed(id) { homes.withLock { homes in homes.removeAll { $0.id == id } } }
    return map
  }

  /// Called when a lane gets its first stream on the map.
  static func add(_ lane: any StreamDomain & StreamLane) {
    queued.add(QueuedPart(lane: lane)) { $0.lane == nil }
  }

  /// The lanes that have streams on the map.
  static var lanes: [any StreamDomain & StreamLane] { queued.elements.compactMap(\.lane) }

  /// The name of a loop that has streams on the map, by the loop's `reference`.
  static func label(of loop: (any StreamDomain)?) -> String? { loops.first { $0.domain === loop }?.label }

  static var loops: [Home] { homes.withLock { $0 }.filter { $0.domain != nil } }

  // Retains the thread's `LoopMap` until the thread ends.
  private static let slot = ThreadSlot<LoopMap>()

  /// Called when this thread begins or ends a piece of work for a domain, so that the clock is read again for streams
  /// without a loop.
  static func turnBegins() { slot.existing?.turnBegins() }

  /// The list of the main thread's streams without a loop. Other threads may run the main queue's code.
  // Used by the main queue's code only.
  nonisolated(unsafe) private static let ofMain: LoopMap = {
    let map = LoopMap(nil, isOfMain: true)
    slot.set(map)
    return map
  }()

  /// The list of the streams that live on this thread without a loop.
  static func ofThread() -> LoopMap { MainQueueCode.isRunning ? ofMain : slot.object { LoopMap(nil) } }

  /// Attaches a subscriber of an unknown type, so that it becomes a node. This method isn't specialized: the chain is
  /// slow while the map is on.
  ///
  /// - Returns: false if nothing has happened, because the map already includes `subscriber`.
  static func attach<P: Publisher, S: Subscriber<P.Output, P.Failure>>(_ subscriber: S, to publisher: P) -> Bool {
    let bare = unerased(subscriber)
    let isAwaited = bare is any AwaitedValues
    if !isAwaited, bare is any LiveSubscriber || bare is any LinkToEnd || bare is any MapMember || bare is any Traceable
    {
      return false
    }
    let end = MapEnd(subscriber, named: isAwaited ? "values" : operatorName(of: type(of: bare)))
    publisher.receive(subscriber: end)
    return true
  }
}

/// The home of a part of a stream that runs on a queue: a `SerialLane`.
@usableFromInline protocol StreamLane: AnyObject {
  /// True when the main queue, or another queue served by one thread, may run the lane's work.
  var mayBeOnMainQueue: Bool { get }
  /// The list of the lane's streams, made when it is first used. Safe to use from any thread.
  var map: LoopMap { get }
  /// The list of the lane's streams; `nil` if there are none on the map. Safe to use from any thread.
  var knownMap: LoopMap? { get }
  /// The lane's streams; `nil` if the calling thread may not read them now.
  func readHere(atMost limit: Int) -> StreamMap?
  /// Schedules the call `read(true)` in the lane. If the lane's loop is closed, calls `read(false)` on any thread. No
  /// loop waits for this call.
  func look(_ read: @escaping @Sendable (_ isHere: Bool) -> Void)
}

/// A subscriber whose values are awaited by tasks. The subscriber doesn't count them itself.
protocol AwaitedValues {}

/// A subscriber that represents a known end of a stream, such as that of `sink`.
protocol LinkToEnd {}
