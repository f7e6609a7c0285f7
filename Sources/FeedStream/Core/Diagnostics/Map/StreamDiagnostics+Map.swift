extension StreamDiagnostics {
  /// Turns the live map of streams on, or off again. If the `FEEDSTREAM_MAP` environment variable is `on`, the map is
  /// on from the start of the program.
  ///
  /// The map shows the streams that are subscribed to while the map is on. ``snapshot(limit:)`` reads it.
  ///
  ///     StreamDiagnostics.startMap()
  ///     let numbers = PassthroughSubject<Int, Never>()
  ///     let sink = numbers.filter { $0 > 10 }.sink { _ in }
  ///     for number in 0..<5 { numbers.send(number) }
  ///     print(StreamDiagnostics.snapshot())
  ///
  /// **Cost:** while the map is off, an atomic load per subscription, another for each boundary where a chain's type is
  /// erased, and nothing per value. While the map is on, a few nanoseconds per value at each of these boundaries; a
  /// chain that ends in a subscriber of your own is not specialized, and is therefore slow.
  public static func startMap(_ isOn: Bool = true) { LiveMap.turn(on: isOn) }

  /// True while the live map is on.
  public static var hasMap: Bool { Warnings.watch && LiveMap.isOn }

  /// The streams of the loop that the calling thread runs or owns, and those that the thread has made without a loop.
  ///
  /// - Parameter limit: the maximum number of nodes; if there are more, ``StreamMap/isCut`` is true.
  public static func snapshot(limit: Int = 10_000) -> StreamMap {
    var map = readHere(atMost: limit)
    map.finish()
    return map
  }

  /// The parts that the calling thread may read now.
  static func readHere(atMost limit: Int) -> StreamMap {
    var map = StreamMap()
    let (current, resting) = (CurrentDomain.get(), CurrentDomain.resting())
    // In a lane, the thread's loop isn't the current domain.
    for domain in [current, current === resting ? nil : resting] {
      if let live = domain?.subscriptions?.map { map.add(live.read(atMost: limit)) }
    }
    map.add(LiveMap.ofThread().read(atMost: limit))
    for lane in LiveMap.lanes { if let part = lane.readHere(atMost: limit) { map.add(part) } }
    return map
  }
}
