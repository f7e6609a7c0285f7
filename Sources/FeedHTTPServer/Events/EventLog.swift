public import FeedStream

extension HTTPServer {
  /// The latest events, for any number of clients of Server-Sent Events.
  ///
  ///     let log = HTTPServer.EventLog(on: loop)
  ///     let news = changes.sink { log.send($0, name: "change") }
  ///     routes.get("/events") { _ in .events(log) }
  ///
  /// An event is encoded once and kept in a ring that all clients share. A client is a place in it: one that does not read
  /// takes no memory beyond that and one write of at most 16 KiB, and finds out about what it missed when it reads again.
  /// Each event has an id, with which a client that was away goes on where it stopped. Where that is gone from the ring, the
  /// client gets an event named `reset`, and goes on with what is new.
  public final class EventLog {
    /// An event: text, and perhaps a name by which a page listens to it.
    public struct Event: Hashable, Sendable {
      public var name: String?
      public var data: String

      public init(_ data: String, name: String? = nil) {
        self.data = data
        self.name = name
      }
    }

    /// The data of `reset` for a client that was overtaken: the current state, where that helps.
    public var snapshot: () -> String = { "" }

    private let capacity: Int
    private let capacityBytes: Int
    private var epoch: String
    private let retry: Int
    private let scheduler: any LoopScheduler
    private let heartbeat: StreamInstant.Stride
    /// The events, at their number modulo the count.
    private var ring: ContiguousArray<Chunk> = []
    private var bytes = 0
    /// The numbers of the oldest event in the ring, and of the next.
    private var first = 1
    private var next = 1
    private var clients: ContiguousArray<EventClient> = []
    private var beat: (any Cancellable)?
    private var isFinished = false
    /// Of the events in the ring and the one before.
    private var ids = GivenIDs()

    /// - Parameters:
    ///   - capacity: how many events are kept: 4,096 by default.
    ///   - bytes: how many bytes of them: 8 MiB by default.
    ///   - heartbeat: how long a client may hear nothing before it gets an empty comment: 15 s by default.
    ///   - retry: how long a client shall wait before it connects again: 2 s by default, and up to half as much more, so
    ///     that not all of them come together.
    ///   - epoch: begins each id, so that ids of an earlier run are told apart; random unless given.
    public init(
      keeping capacity: Int = 4_096, bytes: Int = 8 << 20, heartbeat: StreamInstant.Stride = .seconds(15),
      retry: StreamInstant.Stride = .seconds(2), epoch: String? = nil, on scheduler: any LoopScheduler
    ) {
      precondition(capacity > 0 && bytes > 0, "EventLog: it could keep nothing; use 1 or more")
      precondition(heartbeat > 0, "EventLog(heartbeat: \(heartbeat)): it would never pause; use more than 0")
      self.capacity = capacity
      capacityBytes = bytes
      self.heartbeat = heartbeat
      self.retry = Int(max(retry.nanoseconds, 0) / 1_000_000)
      self.scheduler = scheduler
      self.epoch = epoch ?? String(UInt32.random(in: 0...UInt32.max), radix: 36)
    }

    deinit { beat?.cancel() }

    /// The number of clients.
    public var clientCount: Int { clients.count }

    /// Sends an event to all clients, and keeps it for those that are behind.
    ///
    /// - Parameter given: its id, where several servers have the same events and a client of one may go on with another; without line
    ///   breaks. An id of this log's own unless given.
    /// - Returns: its id.
    @discardableResult public func send(_ data: String, name: String? = nil, id given: String? = nil) -> String {
      if let given { ids.give(given, to: next) }
      let id = self.id(next)
      guard !isFinished else { return id }
      let event = encode(Event(data, name: name), id)
      keep(event)
      for client in clients { client.take(event, next - 1) }
      return id
    }

    /// Says where the log is before its first event: a client that names this id has missed nothing.
    public func begin(after id: String) { ids.give(id, to: next - 1) }

    /// Sends all clients a `reset` with the ``snapshot``: their state is out of date. No earlier id is known
    /// afterwards.
    ///
    /// - Parameter given: as for ``send(_:name:id:)``.
    public func reset(id given: String? = nil) {
      ids = GivenIDs()
      // Also ids of our own are of an earlier time.
      epoch += "r"
      first = next
      bytes = 0
      for place in ring.indices { ring[place] = Chunk() }
      send(snapshot(), name: "reset", id: given)
    }

    /// Ends all clients' streams; they will connect again, unless the server is gone.
    public func finish() {
      isFinished = true
      for client in clients { client.end() }
    }

    // MARK: The ring

    private func keep(_ event: Chunk) {
      while first < next, next - first >= capacity || bytes + event.count > capacityBytes {
        bytes -= ring[first % capacity].count
        ring[first % capacity] = Chunk()
        // The last that is gone is still known: who has seen it misses nothing.
        ids.forget(first - 1)
        first += 1
      }
      let place = next % capacity
      while ring.count <= place { ring.append(Chunk()) }
      ring[place] = event
      bytes += event.count
      next += 1
    }

    private func id(_ number: Int) -> String { ids[number] ?? "\(epoch)-\(number)" }

    private func encode(_ event: Event, _ id: String) -> Chunk {
      var text = "id: \(id)\n"
      if let name = event.name { text += "event: \(name.filter { !$0.isNewline })\n" }
      // A line of the stream ends with any of these.
      let lines = event.data.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
      for line in lines { text += "data: \(line)\n" }
      return Chunk(text + "\n")
    }

    // MARK: Clients

    func attach(
      _ connection: ServerConnection, after head: RequestHead, _ greeting: Event?
    ) -> any ResponseSource {
      // It has seen everything, unless it says where it stopped.
      var seen = next - 1
      var isLost = false
      if let last = Headers(head)["Last-Event-ID"], !last.isEmpty {
        if let number = self.number(last), number >= first - 1, number < next { seen = number } else { isLost = true }
      }
      let client = EventClient(connection, self, seen: seen, index: clients.count)
      clients.append(client)
      let jitter = Int.random(in: 0...max(retry / 2, 1))
      // A line of the first event: some clients take one that stands alone for an event.
      connection.enqueue(Chunk("retry: \(retry + jitter)\n"))
      if isLost { connection.enqueue(encode(Event(snapshot(), name: "reset"), id(seen))) }
      if let greeting { connection.enqueue(encode(greeting, id(seen))) }
      // What it has missed follows as soon as this is written.
      if isFinished {
        client.end()
      } else if beat == nil {
        beat = scheduler.schedule(after: scheduler.now.advanced(by: heartbeat), interval: heartbeat) { [unowned self] in
          for client in clients { client.beat() }
        }
      }
      return client
    }

    /// The number in an id of ours.
    private func number(_ id: String) -> Int? {
      if let number = ids.number(of: id) { return number }
      let parts = id.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0] == epoch, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return nil
      }
      return Int(parts[1])
    }

    func detach(_ client: EventClient) {
      let last = clients.removeLast()
      if last !== client {
        last.index = client.index
        clients[client.index] = last
      }
      guard clients.isEmpty else { return }
      beat?.cancel()
      beat = nil
    }

    func hasMore(than seen: Int) -> Bool { seen + 1 < next }

    /// Hands a client what it has not seen, as much as one write takes.
    ///
    /// - Returns: the number of the last event that it has seen now.
    func serve(_ connection: ServerConnection, after seen: Int) -> Int {
      guard seen >= first - 1 else {
        connection.enqueue(encode(Event(snapshot(), name: "reset"), id(next - 1)))
        return next - 1
      }
      var (seen, count) = (seen, 0)
      while seen + 1 < next, count < EventClient.mostBytes {
        let event = ring[(seen + 1) % capacity]
        connection.enqueue(event)
        count += event.count
        seen += 1
      }
      return seen
    }
  }
}
