import FeedStream

/// Decides which requests run and which wait, based on a total limit and a limit per host.
///
/// Hosts take turns, and the requests to one host run in the order in which they were made. A host that never responds
/// delays only its own requests. Every operation is O(1), on average for `leave(_:where:)`.
struct Admission<Item> {
  /// Represents a host. Two hosts with the same key share a limit.
  typealias Key = Int

  private struct Host {
    var running = 0
    var waiting = FIFO<Item>()
    var count = 0
    /// The number of items that have left, at most, since those were removed.
    var leftCount = 0
    var isInTurn = false

    // These methods work in place: reading a value out of the dictionary would copy it.

    mutating func admit(atMost limit: Int) -> Bool {
      guard running < limit, waiting.isEmpty else { return false }
      running += 1
      return true
    }

    /// - Returns: true if the host is idle afterwards.
    mutating func release() -> Bool {
      running -= 1
      return running == 0 && waiting.isEmpty && !isInTurn
    }

    mutating func wait(_ item: Item, first isFirst: Bool) {
      if isFirst { waiting.prepend(item) } else { waiting.append(item) }
      count += 1
    }

    mutating func popFirst() -> Item? {
      guard let item = waiting.popFirst() else { return nil }
      count -= 1
      return item
    }

    mutating func leave(where isWaiting: (Item) -> Bool) -> [Item] {
      leftCount += 1
      guard leftCount > count / 2 else { return [] }
      leftCount = 0
      var removed: [Item] = []
      for _ in 0..<count {
        let item = waiting.removeFirst()
        if isWaiting(item) { waiting.append(item) } else { removed.append(item) }
      }
      count -= removed.count
      return removed
    }

    /// - Returns: true if the host now waits for its turn.
    mutating func enterTurn(atMost limit: Int) -> Bool {
      guard !isInTurn, !waiting.isEmpty, running < limit else { return false }
      isInTurn = true
      return true
    }
  }

  let limit: Int
  let limitPerHost: Int
  private(set) var running = 0
  private var hosts: [Key: Host] = [:]
  // Hosts that have waiting requests and may run one.
  private var turn = FIFO<Key>()

  init(limit: Int, limitPerHost: Int) {
    self.limit = limit
    self.limitPerHost = limitPerHost
  }

  /// True when one more request to `key` may run now; it then counts as running.
  mutating func admit(_ key: Key) -> Bool {
    guard running < limit, turn.isEmpty else { return false }
    // Here and below, a host is looked up only once, because this runs for each request.
    guard let index = hosts.index(forKey: key) else {
      hosts[key] = Host(running: 1)
      running += 1
      return true
    }
    guard hosts.values[index].admit(atMost: limitPerHost) else { return false }
    running += 1
    return true
  }

  /// Makes `item` wait for its turn in `next()`. If `cameBack` is true, it goes ahead of the host's other items.
  mutating func wait(_ item: Item, for key: Key, cameBack: Bool = false) {
    hosts[key, default: Host()].wait(item, first: cameBack)
    enterTurn(key)
  }

  /// Records that an item of `key` no longer waits. Such items are removed once they may be more than half of the
  /// host's.
  ///
  /// - Returns: the removed items. Releasing an item may lead to other calls, so that must not happen during this one.
  mutating func leave(_ key: Key, where isWaiting: (Item) -> Bool) -> [Item] {
    guard let index = hosts.index(forKey: key) else { return [] }
    return hosts.values[index].leave(where: isWaiting)
  }

  /// Records that a request to `key` no longer runs.
  mutating func release(_ key: Key) {
    running -= 1
    let index = hosts.index(forKey: key)!
    if hosts.values[index].release() {
      hosts.remove(at: index)
    } else if hosts.values[index].enterTurn(atMost: limitPerHost) {
      turn.append(key)
    }
  }

  /// Returns the next item that may run; it then counts as running.
  mutating func next() -> Item? {
    while running < limit, let key = turn.popFirst() {
      hosts[key]!.isInTurn = false
      guard let item = hosts[key]!.popFirst() else {
        // All of its items have left.
        if hosts[key]!.running == 0 { hosts[key] = nil }
        continue
      }
      hosts[key]!.running += 1
      running += 1
      enterTurn(key)
      return item
    }
    return nil
  }

  /// Empties the queues and returns their items.
  mutating func removeAll() -> [Item] {
    turn.removeAll()
    var items: [Item] = []
    for key in hosts.keys {
      hosts[key]!.isInTurn = false
      while let item = hosts[key]!.popFirst() { items.append(item) }
    }
    return items
  }

  private mutating func enterTurn(_ key: Key) {
    guard let index = hosts.index(forKey: key), hosts.values[index].enterTurn(atMost: limitPerHost) else { return }
    turn.append(key)
  }
}
