extension StreamMap.Node: Encodable {
  private enum Key: String, CodingKey {
    case id, name, place, loop, upstreams, received, delivered, demand, held, capacity, waitsForTime, isOver, isEnd
    case failure, secondsSinceLastEvent, note
  }

  /// Encodes the node: durations are in seconds, and an unlimited demand is the string `unlimited`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(place, forKey: .place)
    try container.encode(loop, forKey: .loop)
    try container.encode(upstreams, forKey: .upstreams)
    try container.encodeIfPresent(received, forKey: .received)
    try container.encodeIfPresent(delivered, forKey: .delivered)
    if let demand {
      if let max = demand.max {
        try container.encode(max, forKey: .demand)
      } else {
        try container.encode("unlimited", forKey: .demand)
      }
    }
    try container.encode(held, forKey: .held)
    try container.encodeIfPresent(capacity, forKey: .capacity)
    try container.encode(waitsForTime, forKey: .waitsForTime)
    try container.encode(isOver, forKey: .isOver)
    try container.encode(isEnd, forKey: .isEnd)
    try container.encodeIfPresent(failure, forKey: .failure)
    try container.encodeIfPresent(note, forKey: .note)
    try container.encodeIfPresent(sinceLastEvent.map { $0 / .seconds(1) }, forKey: .secondsSinceLastEvent)
  }
}
