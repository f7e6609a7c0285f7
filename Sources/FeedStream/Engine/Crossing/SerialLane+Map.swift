extension SerialLane: StreamLane {
  package var label: String {
    if isForAnyThread { return "no loop" }
    if isOfLoop { return LiveMap.label(of: loop) ?? (ownsThread ? CurrentDomain.resting()?.label : nil) ?? name }
    return name == "com.apple.main-thread" ? "the main queue" : "the queue \(name)"
  }

  package var instant: Int64? { Self.origin.duration(to: .now).wholeNanoseconds }

  private static let origin = ContinuousClock.now

  @usableFromInline func readHere(atMost limit: Int) -> StreamMap? {
    guard let map = knownMap else { return nil }
    if isHere { return map.read(atMost: limit) }
    // Only the thread that made a lane without a queue may use the subjects above it.
    guard isForAnyThread, map.isOfThisThread else { return nil }
    var part: StreamMap?
    _ = runIfFree { part = map.read(atMost: limit) }
    return part
  }

  @usableFromInline func look(_ read: @escaping @Sendable (Bool) -> Void) {
    let (isClosed, isFirst) = state.withLock { state in
      guard !state.isClosed else { return (true, false) }
      // By now, the oldest reader has given up.
      if state.looks.count > 8 { state.looks.removeFirst() }
      state.looks.append(read)
      defer { state.isLooking = true }
      return (false, !state.isLooking)
    }
    if isClosed { read(false) }
    guard isFirst, let start else { return }
    let errand = LoopErrand(
      { if !self.runIfFree({ self.serveLooks(isHere: true) }) { self.post { self.serveLooks(isHere: true) } } },
      dropped: { self.serveLooks(isHere: false) })
    start { errand.run() }
  }

  private func serveLooks(isHere: Bool) {
    let looks = state.withLock { state in
      state.isLooking = false
      return state.looks.take()
    }
    for look in looks { look(isHere) }
  }

  /// The lane's streams, if the live map has any. Safe to use from any thread.
  @usableFromInline var knownMap: LoopMap? { state.withLock { $0.map } }

  /// The list of the lane's streams for the live map, made when it is first used. Safe to use from any thread.
  @usableFromInline var map: LoopMap {
    if let knownMap { return knownMap }
    let new = LoopMap(self)
    let map = state.withLock { state in
      if state.map == nil { state.map = new }
      return state.map ?? new
    }
    if map === new { LiveMap.add(self) }
    return map
  }
}
