import FeedStream

/// Decides which feed is requested next: each host gets one request at a time, followed by a pause; the total number of
/// requests is limited; and hosts take turns.
///
/// This value only decides; ``FeedPoller`` acts. Times are in seconds, by the wall clock. A host with ten thousand due
/// feeds has one place in the queue, like any other host.
struct PollQueue {
  enum Step: Equatable {
    /// Request this feed now.
    case start(Int)
    /// Nothing can be done before this time; `nil` if nothing can be done until a request completes.
    case wait(until: Double?)
  }

  private struct Host {
    /// The due feeds of the host, in order.
    var ready: ArraySlice<Int> = []
    var opens: Double = -.infinity
    var isRunning = false
    var isQueued = false
  }

  private var hosts: [Host] = []
  private var hostOfFeed: [Int] = []
  /// The due time of each waiting feed; an entry in ``waiting`` with a different time is obsolete.
  private var dues: [Double?] = []
  private var numbers: [String: Int] = [:]
  /// The hosts that running feeds get when their requests have ended.
  private var moves: [Int: Int] = [:]
  /// Feeds that are not due yet.
  private var waiting = Agenda()
  /// Hosts with feeds that are due.
  private var opening = Agenda()
  private(set) var running = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// The number of due feeds that are waiting for their turn.
  private(set) var readyCount = 0

  /// Adds a feed. The first feed has number 0, the next one 1, and so on.
  mutating func add(host name: String, due: Double?) {
    hostOfFeed.append(number(of: name))
    dues.append(nil)
    if let due { wait(hostOfFeed.count - 1, until: due) }
  }

  private mutating func wait(_ feed: Int, until due: Double) {
    dues[feed] = due
    waiting.insert(feed, at: due)
  }

  /// Removes a feed that is waiting or due.
  mutating func remove(_ feed: Int) {
    guard dues[feed].take() == nil else { return }
    let host = hostOfFeed[feed]
    guard let place = hosts[host].ready.firstIndex(of: feed) else { return }
    hosts[host].ready.remove(at: place)
    readyCount -= 1
  }

  /// Puts a feed into another host's queue. Call this before ``ended(_:due:hostOpens:)``, which the old host gets.
  mutating func move(_ feed: Int, to name: String) { moves[feed] = number(of: name) }

  private mutating func number(of name: String) -> Int {
    if let number = numbers[name] { return number }
    hosts.append(Host())
    numbers[name] = hosts.count - 1
    return hosts.count - 1
  }

  /// The due feeds of a host, in order.
  func readyFeeds(of name: String) -> [Int] { numbers[name].map { Array(hosts[$0].ready) } ?? [] }

  /// Makes a feed due at this time, if it would otherwise be due later.
  mutating func hurry(_ feed: Int, at time: Double) {
    if let due = dues[feed], time < due { wait(feed, until: time) }
  }

  /// Closes a host until the given time, unless it is already closed for longer.
  mutating func close(_ name: String, until time: Double) {
    guard let host = numbers[name] else { return }
    hosts[host].opens = max(hosts[host].opens, time)
  }

  /// The next step; after ``Step/start(_:)`` there may be another.
  mutating func next(at now: Double) -> Step {
    while let (due, feed) = waiting.first, due <= now {
      waiting.removeFirst()
      guard dues[feed] == due else { continue }
      dues[feed] = nil
      let host = hostOfFeed[feed]
      hosts[host].ready.append(feed)
      readyCount += 1
      line(up: host)
    }
    removeObsolete()
    guard running < limit else { return .wait(until: waiting.first?.key) }
    while let (time, host) = opening.first, time <= now {
      opening.removeFirst()
      hosts[host].isQueued = false
      guard hosts[host].opens <= now else {
        line(up: host)
        continue
      }
      guard let feed = hosts[host].ready.popFirst() else { continue }
      readyCount -= 1
      hosts[host].isRunning = true
      running += 1
      return .start(feed)
    }
    return .wait(until: nextTime())
  }

  /// Removes obsolete entries, which must not keep a poller waiting.
  private mutating func removeObsolete() {
    while let (due, feed) = waiting.first, dues[feed] != due { waiting.removeFirst() }
    while let (_, host) = opening.first, hosts[host].ready.isEmpty {
      opening.removeFirst()
      hosts[host].isQueued = false
    }
  }

  /// The earliest time at which a waiting feed is due, or the host of a due feed opens; `nil` if no feed is waiting.
  mutating func nextTime() -> Double? {
    removeObsolete()
    return switch (waiting.first?.key, opening.first?.key) {
    case (let due?, let opens?): min(due, opens)
    case (let due, let opens): due ?? opens
    }
  }

  /// Records that the request for a feed has ended, or was not made after all.
  ///
  /// - Parameters:
  ///   - due: the feed's next due time; `nil` for never.
  ///   - opens: the time until which the feed's host stays closed.
  mutating func ended(_ feed: Int, due: Double?, hostOpens opens: Double) {
    let host = hostOfFeed[feed]
    hosts[host].isRunning = false
    hosts[host].opens = max(hosts[host].opens, opens)
    running -= 1
    if let moved = moves.removeValue(forKey: feed) { hostOfFeed[feed] = moved }
    if let due { wait(feed, until: due) }
    line(up: host)
  }

  /// Moves feeds that are overdue by more than `grace` to times that `place` chooses, so that they are not all
  /// requested together after the machine has slept.
  ///
  /// - Parameters:
  ///   - first: feeds due before this time stay, because they were never requested.
  ///   - earliest: feeds with smaller numbers stay.
  mutating func spreadOverdue(
    from first: Double, feeds earliest: Int = 0, at now: Double, grace: Double, _ place: (_ count: Int) -> Double
  ) {
    var (late, staying): ([Int], [(Double, Int)]) = ([], [])
    while let (due, feed) = waiting.first, due < now - grace {
      waiting.removeFirst()
      guard dues[feed] == due else { continue }
      if due < first || feed < earliest { staying.append((due, feed)) } else { late.append(feed) }
    }
    for (due, feed) in staying { waiting.insert(feed, at: due) }
    for feed in late { wait(feed, until: place(late.count)) }
  }

  /// Adjusts to a changed clock: feeds due in an hour stay due in an hour.
  mutating func shift(by seconds: Double) {
    waiting.shift(by: seconds)
    for feed in dues.indices { dues[feed]? += seconds }
    opening.shift(by: seconds)
    for host in hosts.indices { hosts[host].opens += seconds }
  }

  private mutating func line(up host: Int) {
    guard !hosts[host].isRunning, !hosts[host].isQueued, !hosts[host].ready.isEmpty else { return }
    hosts[host].isQueued = true
    opening.insert(host, at: hosts[host].opens)
  }
}

/// A priority queue: the entry with the smallest key comes first, and entries with equal keys keep their order.
struct Agenda {
  private struct Entry: HeapEntry {
    var key: Double
    let order: UInt64
    let value: Int

    func precedes(_ other: borrowing Entry) -> Bool {
      key != other.key ? key < other.key : order < other.order
    }
  }

  private var heap = Heap<Entry>()
  private var insertions: UInt64 = 0

  var first: (key: Double, value: Int)? { heap.first.map { ($0.key, $0.value) } }

  mutating func insert(_ value: Int, at key: Double) {
    heap.insert(Entry(key: key, order: insertions, value: value))
    insertions += 1
  }

  mutating func shift(by difference: Double) { heap.updateAll { $0.key += difference } }

  mutating func removeFirst() { heap.removeFirst() }
}
