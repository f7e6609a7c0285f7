extension StreamDiagnostics {
  /// The streams of all loops and queues in the process, and the calling thread's streams that have no loop.
  ///
  /// Each loop reads its own streams on its next turn, and each queue with its next piece of work. A loop or queue that
  /// doesn't do so within `limit`, because it is blocked or not running, is listed in ``StreamMap/silentLoops``, and
  /// its streams are missing.
  ///
  /// - Parameters:
  ///   - loop: the loop on which the map is delivered; the calling thread must run or own it. That loop keeps running
  ///     until the map is delivered.
  ///   - limit: the maximum time to wait for other loops and queues; a second by default.
  ///   - nodes: the maximum number of nodes per loop, and per part of a stream on a queue.
  public static func snapshot(
    on loop: EventLoop, within limit: Duration = .seconds(1), nodes: Int = 10_000
  ) -> Future<StreamMap, Never> {
    loop.checkOwner()
    return Future { promise in
      let own = readHere(atMost: nodes)
      MapCollector(own, nodes) { promise(.success($0)) }.collect(on: loop, within: limit)
    }
  }
}

/// Waits for the maps of other loops and queues. Lives on one loop, to which the others send their maps.
private final class MapCollector {
  private let nodes: Int
  private let answer: (StreamMap) -> Void
  private var map: StreamMap
  private var missing: [ObjectIdentifier: String] = [:]
  private var alarm: (any Cancellable)?

  init(_ map: StreamMap, _ nodes: Int, _ answer: @escaping (StreamMap) -> Void) {
    self.map = map
    self.nodes = nodes
    self.answer = answer
  }

  func collect(on loop: EventLoop, within limit: Duration) {
    let others = LiveMap.loops.filter { $0.domain !== loop.entrance }
    for case (let domain?, let label) in others.map({ ($0.domain, $0.label) }) {
      // A thread may have several loops, but it runs only one of them.
      missing[ObjectIdentifier(domain)] = label == loop.label ? "another loop of \(label)" : label
    }
    // This thread's own map has everything that the thread may read.
    let lanes = LiveMap.lanes.filter { $0.isOnQueue && !$0.isHere && $0.knownMap?.mayHaveStreams == true }
    for lane in lanes { missing[ObjectIdentifier(lane)] = lane.label }
    guard !missing.isEmpty else { return deliver() }
    // The alarm retains this collector until everything has arrived.
    alarm = loop.once(after: limit) { [self] in finish() }
    let receiver = OnLoopReference(self)
    // The request waits in the other loop's mailbox, and must not keep either loop alive.
    let answer = { @Sendable [entrance = loop.entrance, nodes] (list: LoopMap?, domain: any StreamDomain) in
      let part = list?.read(atMost: nodes) ?? StreamMap()
      entrance.bring { receiver.object?.add(part, ObjectIdentifier(domain)) }
    }
    for case let domain? in others.map(\.domain) { domain.bring { answer(domain.subscriptions?.map, domain) } }
    for lane in lanes { lane.look { isHere in answer(isHere ? lane.knownMap : nil, lane) } }
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
    deliver()
  }

  private func deliver() {
    map.finish()
    answer(map)
  }

  /// A weak reference that is passed to other loops and back.
  // @unchecked: the object is used on its own loop only.
  private final class OnLoopReference: @unchecked Sendable {
    private(set) weak var object: MapCollector?
    init(_ object: MapCollector) { self.object = object }
  }
}
