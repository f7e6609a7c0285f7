import Synchronization

/// The subscriptions that live on a loop. Use this object only on the loop's thread.
package final class LiveSubscriptions {
  private struct Entry {
    weak var subscriber: (any LiveSubscriber)?
    let place: SourcePlace

    var isLive: Bool { subscriber?.isLive ?? false }
  }

  private struct Unread {
    weak var values: UnreadValues?
  }

  private struct Server {
    weak var server: (any WatchedServer)?
  }

  private var entries: [Entry] = []
  private var unread: [Unread] = []
  private var servers: [Server] = []
  private var limit = 64

  /// The streams of the loop, once the live map has any.
  var map: LoopMap?

  /// Warns about streams on a loop that never runs; `nil` for a loop with a host, and for a thread without a loop.
  private let starts: (any StreamStarts)?

  package convenience init() { self.init(nil) }
  init(_ starts: (any StreamStarts)?) { self.starts = starts }

  /// The subscriptions that the calling thread makes before it has a loop. Its first loop takes them over.
  static var beforeLoop: LiveSubscriptions { slot.object { LiveSubscriptions() } }

  private static let slot = ThreadSlot<LiveSubscriptions>()

  /// Takes over the subscriptions that the calling thread made before it had this loop.
  func adoptEarlier() {
    guard let earlier = Self.slot.existing else { return }
    entries += earlier.entries.take()
    unread += earlier.unread.take()
  }

  func add(_ subscriber: any LiveSubscriber, _ place: SourcePlace, _ watch: SubscriptionWatch) {
    makeRoom()
    entries.append(Entry(subscriber: subscriber, place: place))
    if let subscriber = subscriber as? any LiveAnywhere { starts?.note(subscriber, at: "\(place)", watch) }
  }

  /// Called when a task begins to iterate the values of a stream that lives on the loop.
  func addReader(_ reader: any LiveAnywhere) { starts?.note(reader, at: "values", nil) }

  func add(_ values: UnreadValues) {
    makeRoom()
    unread.append(Unread(values: values))
  }

  /// Adds a server that waits for something that serves its requests.
  package func add(_ server: any WatchedServer) {
    servers.removeAll { $0.server == nil }
    servers.append(Server(server: server))
  }

  private func makeRoom() {
    guard entries.count + unread.count >= limit else { return }
    entries.removeAll { !$0.isLive }
    unread.removeAll { $0.values == nil }
    limit = max(64, (entries.count + unread.count) * 2)
  }

  /// Called when the loop has nothing left to do. Warns about subscriptions that can't receive values anymore, about
  /// values that no task has iterated, and about servers that nobody has made serve.
  package func loopReturned() {
    entries.removeAll { !$0.isLive }
    unread.removeAll { $0.values?.isUnread != true }
    servers.removeAll { $0.server?.isWaiting != true }
    let unconnected = entries.first { $0.subscriber?.waitsForConnection == true }
    if let first = unconnected ?? entries.first {
      let others = entries.count > 1 ? " and \(entries.count - 1) more" : ""
      let cause =
        unconnected != nil
        ? """
        a connectable publisher above it isn't connected. Call connect() and keep the result, or write autoconnect() directly below that \
        publisher
        """
        : """
        nothing was left on the loop that could deliver a value. If the subscription is done, complete or cancel it; if its owner \
        retains itself, capture it weakly, or use assign(to: &$property); if a task, the main queue or another thread still sends \
        values, use run(.untilStopped), or subject.sender(on: loop), which the loop waits for
        """
      Warnings.warn(
        .liveSubscriptions, at: "\(first.place)",
        "the loop returned from run() with this subscription\(others) still live: \(cause)")
    }
    for case let server? in servers.map(\.server) {
      Warnings.warn(
        .neverServed, at: server.title,
        """
        the loop returned from run() while nothing serves this server's requests; a server keeps the loop running only if serve was \
        called before run(), and the result was kept
        """)
    }
    if !unread.isEmpty {
      Warnings.warn(
        .unreadValues, at: "values",
        """
        the loop returned from run() before any task had iterated the values created on the loop: code on the main queue ran \
        the loop, and tasks of the main actor wait for that code. Use EventLoop.main there, or an EventLoopThread
        """)
    }
  }

  /// True when the loop waits for a task to iterate values.
  package func isWaitingForReaders() -> Bool {
    unread.removeAll { $0.values?.isUnread != true }
    return !unread.isEmpty
  }

  /// Warns about values that keep the loop running and that no task has begun to iterate.
  package func stillWaitingForReaders() {
    guard isWaitingForReaders() else { return }
    Warnings.warn(
      .unreadValues, at: "values",
      """
      for a second, the loop has had nothing to do but wait for a task to iterate the values created on the loop; iterate them, \
      release them, or write keepsLoopAlive(false).values
      """)
  }
}

/// A server, for a warning if nothing serves its requests.
package protocol WatchedServer: AnyObject {
  /// The server and its address, as text. Read it on the loop's thread.
  var title: String { get }
  /// True if the server is open, and nothing has ever requested anything from it. Read it on the loop's thread.
  var isWaiting: Bool { get }
}

extension LiveSubscriber {
  /// True if a connectable publisher above isn't connected.
  fileprivate var waitsForConnection: Bool {
    // A subscription that arrived late may have arrived in a lane, where only the lane's code may read it.
    guard hasArrived, lane == nil, mayBeRead, let upstream else { return false }
    var seen: Set<ObjectIdentifier> = []
    return Self.waitsForConnection(upstream, &seen)
  }

  private static func waitsForConnection(_ subscription: Any, _ seen: inout Set<ObjectIdentifier>) -> Bool {
    if let passing = subscription as? any PassingSubscription { return waitsForConnection(passing.passed, &seen) }
    // Bounded: a long chain must not exhaust the stack.
    guard let member = subscription as? any MapMember, seen.count < 1_000,
      seen.insert(ObjectIdentifier(member)).inserted, member.beginsReading()
    else { return false }
    defer { member.endsReading() }
    var facts = StreamFacts(member.description)
    member.tell(&facts)
    if [facts.reason, facts.reasonAbove].contains(StreamFacts.notConnected) { return true }
    for upstream in facts.upstreams where waitsForConnection(upstream, &seen) { return true }
    return false
  }
}

/// The values of a publisher that no task has iterated yet. They keep the loop running until a task iterates them, or
/// until no task can do so anymore.
final class UnreadValues: Sendable {
  private let domain: any StreamDomain
  private let hasReader = Atomic(false)
  var isUnread: Bool { !hasReader.load(ordering: .relaxed) }

  init(waitedForBy domain: any StreamDomain) {
    self.domain = domain
    domain.hold(.mainQueueOrTask)
  }

  func read() {
    if !hasReader.exchange(true, ordering: .relaxed) { domain.letGo(.mainQueueOrTask) }
  }

  deinit { if isUnread { domain.letGo(.mainQueueOrTask) } }
}
