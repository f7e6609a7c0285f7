extension StreamDiagnostics {
  /// The streams of all loops of the process, and those of the calling thread without a loop.
  ///
  /// Each loop reads its own streams on its next turn. A loop that doesn't do so within `limit`, because it is blocked
  /// or not running, is listed in ``StreamMap/silentLoops``, and its streams are missing.
  ///
  /// - Parameters:
  ///   - loop: the loop on which the map is delivered, which the calling thread runs or owns. That loop keeps running
  ///     until the map is delivered.
  ///   - limit: the maximum time to wait for the other loops; a second by default.
  ///   - nodes: the maximum number of nodes per loop.
  public static func snapshot(
    on loop: EventLoop, within limit: Duration = .seconds(1), nodes: Int = 10_000
  ) -> Future<StreamMap, Never> {
    loop.checkOwner()
    return Future { promise in
      let own = snapshot(limit: nodes)
      MapCollector(own, on: loop, nodes) { promise(.success($0)) }.collect(within: limit)
    }
  }
}

/// Waits for the maps of other loops. Lives on one loop, to which the others send their maps.
private final class MapCollector {
  private let loop: EventLoop
  private let nodes: Int
  private let deliver: (StreamMap) -> Void
  private var map: StreamMap
  private var missing: [ObjectIdentifier: String] = [:]
  private var alarm: (any Cancellable)?

  init(_ map: StreamMap, on loop: EventLoop, _ nodes: Int, _ deliver: @escaping (StreamMap) -> Void) {
    self.map = map
    self.loop = loop
    self.nodes = nodes
    self.deliver = deliver
  }

  func collect(within limit: Duration) {
    let others = LiveMap.loops.filter { $0.domain !== loop }
    for other in others { if let domain = other.domain { missing[ObjectIdentifier(domain)] = other.label } }
    guard !missing.isEmpty else { return deliver(map) }
    // The alarm retains this collector until everything has arrived.
    alarm = loop.once(after: limit) { [self] in finish() }
    let receiver = OnLoopReference(self)
    for case let domain? in others.map(\.domain) {
      domain.bring { [loop, nodes] in
        let part = domain.subscriptions?.map?.read(atMost: nodes) ?? StreamMap()
        loop.execute { receiver.object?.add(part, ObjectIdentifier(domain)) }
      }
    }
  }

  private func add(_ part: StreamMap, _ loop: ObjectIdentifier) {
    guard alarm != nil, missing.removeValue(forKey: loop) != nil else { return }
    map.add(part)
    if missing.isEmpty { finish() }
  }

  private func finish() {
    guard let alarm = alarm.take() else { return }
    alarm.cancel()
    map.silentLoops += missing.values.sorted()
    deliver(map)
  }

  /// A weak reference that is passed to other loops and back.
  // @unchecked: the object is used on its own loop only.
  private final class OnLoopReference: @unchecked Sendable {
    private(set) weak var object: MapCollector?
    init(_ object: MapCollector) { self.object = object }
  }
}
