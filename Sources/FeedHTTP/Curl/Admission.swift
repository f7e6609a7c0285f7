/// Decides which requests run and which wait: so many at once in all, so many to one host, the rest in turn.
///
/// Hosts take turns, and the requests to one host run in the order they were made: a host that never answers holds its own
/// requests up and nobody else's. Everything costs O(1).
struct Admission<Item> {
  /// Stands for a host; two hosts that share one merely share a limit.
  typealias Key = UInt64

  private struct Host {
    var running = 0
    var waiting = Queue<Item>()
    var isInTurn = false

    var isIdle: Bool { running == 0 && waiting.isEmpty }
  }

  let limit: Int
  let limitPerHost: Int
  private(set) var running = 0
  private var hosts: [Key: Host] = [:]
  // Hosts that have something waiting and may run it.
  private var turn = Queue<Key>()

  init(limit: Int, limitPerHost: Int) {
    self.limit = limit
    self.limitPerHost = limitPerHost
  }

  /// Whether one more to `key` may run now; if so, it counts as running.
  mutating func admit(_ key: Key) -> Bool {
    guard running < limit, turn.isEmpty else { return false }
    // Here and below a host is looked for once: it is done for each request.
    guard let index = hosts.index(forKey: key) else {
      hosts[key] = Host(running: 1)
      running += 1
      return true
    }
    guard hosts.values[index].running < limitPerHost, hosts.values[index].waiting.isEmpty else { return false }
    hosts.values[index].running += 1
    running += 1
    return true
  }

  /// Has `item` wait; `next()` returns it in its turn. One that `cameBack` is the first of its host's.
  mutating func wait(_ item: Item, for key: Key, cameBack: Bool = false) {
    if cameBack {
      hosts[key, default: Host()].waiting.prepend(item)
    } else {
      hosts[key, default: Host()].waiting.append(item)
    }
    enterTurn(key)
  }

  /// One of `key`'s no longer runs.
  mutating func release(_ key: Key) {
    running -= 1
    let index = hosts.index(forKey: key)!
    hosts.values[index].running -= 1
    if hosts.values[index].isIdle { hosts.remove(at: index) } else { enterTurn(key) }
  }

  /// The next that may run; it counts as running.
  mutating func next() -> Item? {
    guard running < limit, let key = turn.popFirst() else { return nil }
    hosts[key]!.isInTurn = false
    let item = hosts[key]!.waiting.popFirst()!
    hosts[key]!.running += 1
    running += 1
    enterTurn(key)
    return item
  }

  /// Empties the queues.
  mutating func removeAll() -> [Item] {
    defer { turn = Queue() }
    return hosts.keys.flatMap { key in
      hosts[key]!.isInTurn = false
      return hosts[key]!.waiting.removeAll()
    }
  }

  private mutating func enterTurn(_ key: Key) {
    guard let host = hosts[key], !host.isInTurn, !host.waiting.isEmpty, host.running < limitPerHost else { return }
    hosts[key]!.isInTurn = true
    turn.append(key)
  }
}

/// First in, first out.
private struct Queue<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func prepend(_ element: Element) {
    if head == 0 {
      elements.insert(element, at: 0)
    } else {
      head -= 1
      elements[head] = element
    }
  }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = elements[head]
    elements[head] = nil
    head += 1
    if head > 32, head > elements.count / 2 {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func removeAll() -> [Element] {
    defer { self = Queue() }
    return elements[head...].compactMap { $0 }
  }
}
