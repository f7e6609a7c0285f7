internal import FeedStream

/// The latest events of a log, encoded and numbered.
struct EventRing: Sendable {
  private let capacity: Int
  private let capacityBytes: Int
  /// The prefix of the ids, until the first reset.
  private let firstEpoch: String
  private var epoch: String
  private var resets = 0
  /// The events; the index of each is its number modulo the capacity.
  private var events: ContiguousArray<Chunk> = []
  private var bytes = 0
  /// The numbers of the oldest event in the ring and of the next event.
  private(set) var first = 1
  private(set) var next = 1
  /// The ids of the events in the ring and of the one before them.
  private var ids = GivenIDs()

  init(keeping capacity: Int, bytes: Int, epoch: String?) {
    precondition(
      capacity > 0 && bytes > 0,
      "EventLog: with capacity \(capacity) and bytes \(bytes), the log could not keep events; use 1 or more")
    self.capacity = capacity
    capacityBytes = bytes
    firstEpoch = epoch ?? String(UInt32.random(in: 0...UInt32.max), radix: 36)
    self.epoch = firstEpoch
  }

  subscript(number: Int) -> Chunk { events[number % capacity] }

  /// The id of an event, or of the one before the first.
  func id(_ number: Int) -> String { ids[number] ?? "\(epoch)-\(number)" }

  /// The number of the event with this id; `nil` if the id is unknown.
  func number(_ id: String) -> Int? {
    if let number = ids.number(of: id) { return number }
    // An epoch may contain hyphens, too.
    guard let hyphen = id.utf8.lastIndex(of: UInt8(ascii: "-")), id[..<hyphen] == epoch else { return nil }
    let digits = id.utf8[id.utf8.index(after: hyphen)...]
    return digits.allSatisfy { (0x30...0x39).contains($0) } ? Int(Substring(digits)) : nil
  }

  /// Sets the id of the next event.
  mutating func giveNext(_ id: String) { ids.give(id, to: next) }

  /// Sets the id of the event before the next one, even if there is no such event.
  mutating func begin(after id: String) { ids.give(id, to: next - 1) }

  mutating func keep(_ event: Chunk) {
    while first < next, next - first >= capacity || bytes + event.count > capacityBytes {
      bytes -= events[first % capacity].count
      events[first % capacity] = Chunk()
      // The id of the last removed event stays known: a client that has seen that event has missed nothing.
      ids.forget(first - 1)
      first += 1
    }
    let place = next % capacity
    while events.count <= place { events.append(Chunk()) }
    events[place] = event
    bytes += event.count
    next += 1
  }

  /// Removes all events and their ids.
  mutating func reset() {
    ids = GivenIDs()
    // Ids that this ring assigned must not be recognized either.
    resets += 1
    epoch = "\(firstEpoch)r\(resets)"
    first = next
    bytes = 0
    for place in events.indices { events[place] = Chunk() }
  }

  /// Encodes an event as clients receive it.
  static func encode(_ event: EventLog.Event, _ id: String) -> Chunk {
    var text = "id: \(id)\n"
    if let name = event.name { text += "event: \(name.filter { !$0.isNewline })\n" }
    // Each of these ends a line of the stream.
    let lines = event.data.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    for line in lines { text += "data: \(line)\n" }
    return Chunk(text + "\n")
  }
}
