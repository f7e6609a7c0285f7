internal import FeedStream
import Synchronization

extension EventLog {
  /// The events shared by logs on several loops: each event is sent once, from any thread, and stored once.
  ///
  ///     let events = EventLog.Channel()
  ///     let servers = try HTTPServerGroup(at: address, on: group) { server in
  ///       let log = EventLog(of: events, on: server.scheduler)
  ///       return server.serve { _ in .events(log) }
  ///     }
  ///     events.send("high tide", name: "sea")
  ///
  /// All logs have the same events with the same ids, in the same order, so that a client can resume with any of the
  /// logs. An event is encoded once; the logs' rings, and the writes to the clients of all loops, share the same bytes.
  public final class Channel: Sendable {
    /// A change to the events.
    enum Update: Sendable {
      case event(Chunk, givenID: String?)
      case begin(after: String)
      case reset
      case finish
    }

    private struct State {
      var ring: EventRing
      var logs: [ObjectIdentifier: @Sendable (Update) -> Void] = [:]
      var isFinished = false

      mutating func add(_ event: Event, _ given: String?) -> String {
        if let given { ring.giveNext(given) }
        let id = ring.id(ring.next)
        guard !isFinished else { return id }
        let chunk = EventRing.encode(event, id)
        ring.keep(chunk)
        announce(.event(chunk, givenID: given))
        return id
      }

      func announce(_ update: Update) { for tell in logs.values { tell(update) } }
    }

    // The lock is held while the logs are informed, so that all see the changes in the same order. Under the lock, an
    // event is only copied to the ring and posted to each loop; no client is served.
    private let state: Locked<State>

    /// - Parameters:
    ///   - capacity: the maximum number of events kept; 4,096 by default.
    ///   - bytes: the maximum number of bytes in these events; 8 MiB by default.
    ///   - epoch: the prefix of each assigned id, so that ids of an earlier run are recognized as such; random by
    ///     default.
    public init(keeping capacity: Int = 4_096, bytes: Int = 8 << 20, epoch: String? = nil) {
      state = Locked(State(ring: EventRing(keeping: capacity, bytes: bytes, epoch: epoch)))
    }

    /// Sends an event to all clients of all logs, and keeps it for clients that lag behind. Safe from any thread.
    ///
    /// - Parameter given: as for ``EventLog/send(_:name:id:)``.
    /// - Returns: the event's id.
    @discardableResult public func send(_ data: String, name: String? = nil, id given: String? = nil) -> String {
      state.withLock { $0.add(Event(data, name: name), given) }
    }

    /// Sets the id of the position after the events so far: a client that sends this id has missed none of them.
    /// Ids that were set or sent earlier are still recognized.
    public func begin(after id: String) {
      state.withLock { state in
        state.ring.begin(after: id)
        state.announce(.begin(after: id))
      }
    }

    /// Sends all clients a `reset`, because their state is out of date. No earlier id is recognized afterwards.
    ///
    /// - Parameters:
    ///   - snapshot: the data of the event: the current state, if useful.
    ///   - given: as for ``EventLog/send(_:name:id:)``.
    public func reset(_ snapshot: String = "", id given: String? = nil) {
      state.withLock { state in
        state.ring.reset()
        state.announce(.reset)
        _ = state.add(Event(snapshot, name: "reset"), given)
      }
    }

    /// Ends the streams of all clients; the clients reconnect if a server is still running.
    public func finish() {
      state.withLock { state in
        state.isFinished = true
        state.announce(.finish)
      }
    }

    // MARK: Logs

    /// The number of clients of all logs. Safe from any thread.
    public var clientCount: Int { clients.load(ordering: .relaxed) }
    let clients = Atomic(0)

    var logCount: Int { state.withLock { $0.logs.count } }

    /// Registers a log, and returns the events so far; `tell` is called with each later change.
    func join(_ log: ObjectIdentifier, _ tell: @escaping @Sendable (Update) -> Void) -> (EventRing, isFinished: Bool) {
      state.withLock { state in
        state.logs[log] = tell
        return (state.ring, state.isFinished)
      }
    }

    func leave(_ log: ObjectIdentifier) { _ = state.withLock { $0.logs.removeValue(forKey: log) } }
  }
}
