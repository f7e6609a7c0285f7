public import FeedStream

/// The latest events, for any number of clients of Server-Sent Events.
///
///     let log = EventLog(on: loop)
///     let news = changes.sink { log.send($0, name: "change") }
///     routes.get("/events") { _ in .events(log) }
///
/// An event is encoded once and kept in a ring that all clients share. For each client, the log stores a position in
/// the ring. A client that doesn't read takes up no memory beyond that position and one write of at most 16 KiB. When
/// it reads again, it gets the events that it missed. Each event has an id, with which a reconnecting client resumes
/// where it stopped. If missed events have left the ring, or the id is unknown, the client gets an event named
/// `reset`, and continues with new events.
public final class EventLog {
  /// An event: text, and an optional name that a page can listen for.
  public struct Event: Hashable, Sendable {
    public var name: String?
    public var data: String

    public init(_ data: String, name: String? = nil) {
      self.data = data
      self.name = name
    }
  }

  /// The data of `reset` for a client that fell behind: the current state, if useful.
  public var snapshot: () -> String = { "" }

  private(set) var ring: EventRing
  /// The source of the events, if logs on other loops share them.
  private let channel: Channel?
  private let retry: Int
  private let scheduler: any LoopScheduler
  private let heartbeat: StreamInstant.Stride
  private var clients: ContiguousArray<EventClient> = []
  private var beat: (any Cancellable)?
  private var isFinished = false

  /// - Parameters:
  ///   - capacity: the maximum number of events kept; 4,096 by default.
  ///   - bytes: the maximum number of bytes in these events; 8 MiB by default.
  ///   - heartbeat: the longest time in which a client gets nothing; 15 s by default. Without events, it gets an empty
  ///     comment.
  ///   - retry: the time that clients wait before they reconnect: 2 s by default, plus a random time of up to half as
  ///     much, so that not all of them reconnect together.
  ///   - epoch: the prefix of each assigned id, so that ids of an earlier run are recognized as such; random by
  ///     default.
  public convenience init(
    keeping capacity: Int = 4_096, bytes: Int = 8 << 20, heartbeat: StreamInstant.Stride = .seconds(15),
    retry: StreamInstant.Stride = .seconds(2), epoch: String? = nil, on scheduler: any LoopScheduler
  ) {
    let ring = EventRing(keeping: capacity, bytes: bytes, epoch: epoch)
    self.init(ring, nil, heartbeat, retry, scheduler)
  }

  /// Creates one loop's log of the events in `channel`: those that the channel keeps, and all that are sent from now
  /// on.
  ///
  /// An event or a reset that is sent to this log goes to the channel, and reaches all of the channel's logs on a
  /// later turn of their loops.
  ///
  /// - Parameters:
  ///   - channel: the source of the events.
  ///   - heartbeat: as for a log without a channel.
  ///   - retry: as for a log without a channel.
  ///   - scheduler: an `EventLoop`, or virtual time.
  public convenience init(
    of channel: Channel, heartbeat: StreamInstant.Stride = .seconds(15), retry: StreamInstant.Stride = .seconds(2),
    on scheduler: any LoopScheduler
  ) {
    guard let home = scheduler as? any StreamDomain else {
      preconditionFailure(
        "EventLog(of:): events can be sent only to an EventLoop or a VirtualTimeScheduler; pass one of these")
    }
    let member = Member()
    let (ring, isFinished) = channel.join(ObjectIdentifier(member)) { update in
      home.bringInOrder { member.log?.take(update) }
    }
    self.init(ring, channel, heartbeat, retry, scheduler)
    self.member = member
    self.isFinished = isFinished
    member.log = self
  }

  /// A log, as referenced by its channel.
  // @unchecked: the log is used on its loop only.
  private final class Member: @unchecked Sendable {
    weak var log: EventLog?
  }

  private var member: Member?

  private init(
    _ ring: EventRing, _ channel: Channel?, _ heartbeat: StreamInstant.Stride, _ retry: StreamInstant.Stride,
    _ scheduler: any LoopScheduler
  ) {
    precondition(heartbeat > 0, "EventLog(heartbeat: \(heartbeat)): heartbeats would never pause; use more than 0")
    self.ring = ring
    self.channel = channel
    self.heartbeat = heartbeat
    self.retry = Int(max(retry.nanoseconds, 0) / 1_000_000)
    self.scheduler = scheduler
  }

  deinit {
    if let member { channel?.leave(ObjectIdentifier(member)) }
    beat?.cancel()
  }

  /// The number of clients.
  public var clientCount: Int { clients.count }

  /// Sends an event to all clients, and keeps it for clients that lag behind.
  ///
  /// - Parameter given: the event's id, without line breaks. Pass it when several servers send the same events and a
  ///   client of one may resume at another. By default, the log assigns an id.
  /// - Returns: the event's id.
  @discardableResult public func send(_ data: String, name: String? = nil, id given: String? = nil) -> String {
    if let channel { return channel.send(data, name: name, id: given) }
    if let given { ring.giveNext(given) }
    let id = ring.id(ring.next)
    if !isFinished { take(EventRing.encode(Event(data, name: name), id)) }
    return id
  }

  /// Sets the id of the position after the events so far: a client that sends this id has missed none of them.
  /// Ids that were set or sent earlier are still recognized.
  public func begin(after id: String) {
    if let channel { channel.begin(after: id) } else { ring.begin(after: id) }
  }

  /// Sends all clients a `reset` with the ``snapshot``, because their state is out of date. No earlier id is
  /// recognized afterwards.
  ///
  /// - Parameter given: as for ``send(_:name:id:)``.
  public func reset(id given: String? = nil) {
    if let channel { return channel.reset(snapshot(), id: given) }
    ring.reset()
    send(snapshot(), name: "reset", id: given)
  }

  /// Ends the streams of this log's clients; the clients reconnect if the server is still running.
  public func finish() {
    isFinished = true
    for client in clients { client.end() }
  }

  /// Keeps an event and sends it to all clients.
  private func take(_ event: Chunk) {
    ring.keep(event)
    for client in clients { client.take(event, ring.next - 1) }
  }

  private func take(_ update: Channel.Update) {
    switch update {
    case .event(let event, let given):
      if let given { ring.giveNext(given) }
      if !isFinished { take(event) }
    case .begin(let id): ring.begin(after: id)
    case .reset: ring.reset()
    case .finish: finish()
    }
  }

  // MARK: Clients

  func attach(
    _ connection: any ResponseConnection, after head: RequestHead, _ greeting: Event?
  ) -> any ResponseSource {
    // A client counts as having seen everything, unless it reports where it stopped.
    var seen = ring.next - 1
    var isLost = false
    if let last = HTTPHeaders(head)["Last-Event-ID"], !last.isEmpty {
      if let number = ring.number(last), number >= ring.first - 1, number < ring.next {
        seen = number
      } else {
        isLost = true
      }
    }
    let client = EventClient(connection, self, seen: seen, index: clients.count)
    clients.append(client)
    channel?.clients.add(1, ordering: .relaxed)
    let jitter = Int.random(in: 0...max(retry / 2, 1))
    // This line is part of the first event: some clients would treat a separate `retry` as an event.
    connection.enqueue(Chunk("retry: \(retry + jitter)\n"))
    if isLost { connection.enqueue(EventRing.encode(Event(snapshot(), name: "reset"), ring.id(seen))) }
    if let greeting { connection.enqueue(EventRing.encode(greeting, ring.id(seen))) }
    // Missed events are sent as soon as this is written.
    if isFinished {
      client.end()
    } else if beat == nil {
      let half: StreamInstant.Stride = max(.nanoseconds(1), .nanoseconds(Int(heartbeat.nanoseconds / 2)))
      beat = scheduler.schedule(after: scheduler.now.advanced(by: half), interval: half) { [unowned self] in
        for client in clients { client.beat() }
      }
    }
    return client
  }

  func detach(_ client: EventClient) {
    channel?.clients.subtract(1, ordering: .relaxed)
    let last = clients.removeLast()
    if last !== client {
      last.index = client.index
      clients[client.index] = last
    }
    guard clients.isEmpty else { return }
    beat?.cancel()
    beat = nil
  }

  func hasMore(than seen: Int) -> Bool { seen + 1 < ring.next }

  /// Sends a client the events that it has not seen, as many as fit into one write.
  ///
  /// - Returns: the number of the last event that it has now seen.
  func serve(_ connection: any ResponseConnection, after seen: Int) -> Int {
    guard seen >= ring.first - 1 else {
      connection.enqueue(EventRing.encode(Event(snapshot(), name: "reset"), ring.id(ring.next - 1)))
      return ring.next - 1
    }
    var (seen, count) = (seen, 0)
    while seen + 1 < ring.next, count < EventClient.mostBytes {
      let event = ring[seen + 1]
      connection.enqueue(event)
      count += event.count
      seen += 1
    }
    return seen
  }
}
