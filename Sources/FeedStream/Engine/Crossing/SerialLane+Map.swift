extension SerialLane: StreamLane {
  package var label: String {
    if isForAnyThread { return "no loop" }
    if isOfLoop { return LiveMap.label(of: loop) ?? (ownsThread ? CurrentDomain.resting()?.label : nil) ?? name }
    return name == "com.apple.main-thread" ? "the main queue" : "the queue \(name)"
  }

  package var instant: Int64? {
    let (seconds, attoseconds) = Self.start.duration(to: .now).components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  private static let start = ContinuousClock.now

  @usableFromInline func readHere(atMost limit: Int) -> StreamMap? {
    guard let map = knownMap else { return nil }
    if isHere { return map.read(atMost: limit) }
    // Only the thread that made a lane without a queue may use the subjects above it.
    guard isForAnyThread, map.isOfThisThread else { return nil }
    var part: StreamMap?
    _ = runIfFree { part = map.read(atMost: limit) }
    return part
  }
}
