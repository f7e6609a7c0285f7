public import FeedStream
public import FeedTLS

/// A client for one Redis or Valkey server: one connection, which is opened when it is first needed and reopened when
/// it is lost.
///
///     let client = RedisClient(try RedisAddress(parsing: "redis://localhost"), on: loop)
///     let subscription = client.send(RedisCommand("INCR", "visits"))
///       .sink { print($0) } receiveValue: { print($0.integer ?? 0) }
///
/// Commands that are sent in the same turn of the loop go out in one write, and their replies arrive in order. Many
/// commands can be in flight. While there is no connection, commands wait for the next attempt to connect, and fail if
/// that attempt fails; the pauses between attempts (``Options/pauses``) grow with each failure. A command that was sent
/// but got no reply is never sent again: only the caller knows whether it may be executed twice.
///
/// Send a transaction as one list, from `MULTI` to `EXEC`. Commands that change the login or the database (`AUTH`,
/// `SELECT` …) are refused, because the next connection wouldn't know them: put both in the URL. The next connection
/// doesn't know `WATCH` either, so use a ``RedisScript``.
///
/// If a node of a cluster reports that another node has a key (`MOVED`), the client connects to that node and sends the
/// command there. This is sufficient for a cluster if all keys have the same tag. A command that is sent meanwhile may
/// overtake those that are sent again. A transaction isn't sent again: it fails, and the next one is sent to that node.
/// While the slot is migrating (`ASK`, `TRYAGAIN`), commands are refused; try again later. Without version 3 of the
/// protocol, the client doesn't follow `MOVED`, and such commands fail.
///
/// Use it on its scheduler's thread. An open connection keeps an event loop running, until ``close()``.
public final class RedisClient {
  /// Options; each has a default.
  public struct Options: Sendable {
    /// The time limit for a reply, and for the entire login. Ten seconds by default. A large command or a large reply
    /// may take longer: the time begins again whenever bytes arrive, or a part of the command is sent.
    public var patience: Duration = .seconds(10)
    /// The pause after the first failure to connect, which is doubled after each further failure, and the longest
    /// pause. The actual pause is a random share of that, from half to all. 50 milliseconds and two seconds by default.
    public var pauses: ClosedRange<Duration> = .milliseconds(50)...(.seconds(2))
    /// The maximum number of commands waiting for replies or for a connection. 100,000 by default.
    public var maxWaiting = 100_000
    /// The name under which the server lists this client (`CLIENT LIST`), with version 3 of the protocol. `feedstream`
    /// by default.
    public var name = "feedstream"
    /// The limits on a reply.
    public var limits = RESPDecoder.Limits()
    /// True to use version 2 of the protocol, even if the server supports version 3. False by default.
    public var usesVersion2 = false
    /// The roots to trust with `rediss://`, and the certificate to present: by default, the system's roots (or the file
    /// that `SSL_CERT_FILE` names), and no certificate.
    public var tls: TLSClient?

    public init() {}
  }

  private enum State {
    case idle
    case connecting(RedisLogin)
    case pausing(any Cancellable)
    case ready(RedisLink)
    case closed
  }

  public let address: RedisAddress
  public let options: Options
  package let scheduler: any LoopScheduler
  private var state = State.idle
  private var waiting: [(command: RedisCommand, reply: RedisLink.Reply)] = []
  private var failures = 0
  /// The cluster node that has the keys, once another node has named it.
  private var node: RedisAddress?
  /// The number of consecutive redirects from one node to another.
  private var hops = 0
  /// Connections to previous nodes, which are kept until their last reply.
  private var leaving: [RedisLink] = []
  /// The digests of the scripts that the server has received.
  var digests: [Chunk: String] = [:]
  /// The number of connections opened so far.
  public private(set) var connectionCount = 0
  /// Receives the duration and the result of each command, for metrics. `nil` by default.
  public var onReply: ((CommandReport) -> Void)?

  /// A command that got a reply or failed.
  public struct CommandReport: Sendable {
    /// The command's first word, such as `GET`.
    public var name: String
    public var address: RedisAddress
    /// The time from the call to the reply, including the time that the command waited for a connection.
    public var duration: Duration
    /// The refusal or failure; `nil` if the command succeeded.
    public var error: RedisError?
  }

  /// - Parameter scheduler: an event loop, or virtual time in a test.
  public init(_ address: RedisAddress, on scheduler: any LoopScheduler, options: Options = Options()) {
    precondition(
      options.maxWaiting > 0,
      "RedisClient: maxWaiting is \(options.maxWaiting), so no command could wait; use 1 or more")
    self.address = address
    self.scheduler = scheduler
    self.options = options
  }

  deinit { close() }

  /// The system's roots, read once.
  static let systemTLS: Result<TLSClient, TLSError> = Result { () throws(TLSError) in try TLSClient() }

  /// True while the client is connected and logged in.
  public var isConnected: Bool { if case .ready = state { true } else { false } }

  /// Closes the connection. Commands without a reply, even if they have been sent, fail with
  /// ``RedisError/clientClosed``, as do later ones. Idempotent.
  public func close() {
    let old = state
    state = .closed
    switch old {
    case .idle, .closed: break
    case .connecting(let login): login.cancel()
    case .pausing(let timer): timer.cancel()
    case .ready(let link):
      link.onEnd = nil
      link.end(.clientClosed)
    }
    for link in leaving { link.end(.clientClosed) }
    leaving = []
    failWaiting(.clientClosed)
  }

  /// Sends a command.
  ///
  /// - Parameter reply: called once, with the reply, or with the refusal or failure. If nothing can be sent, it is
  ///   called before this method returns.
  package func perform(_ command: RedisCommand, _ reply: @escaping (Result<RedisValue, RedisError>) -> Void) {
    guard command.effect != .refused else { return reply(.failure(.unsupported(command.refusedName))) }
    startReporting(command, reply)
    connectIfNeeded()
  }

  /// Sends all commands, or none: without its `EXEC`, a transaction would swallow the commands of others.
  func perform(
    _ commands: [RedisCommand], wrongType: RedisValue?, _ done: @escaping (Result<[RedisValue], RedisError>) -> Void
  ) {
    guard !commands.isEmpty else { return done(.success([])) }
    if let refused = commands.first(where: { $0.effect == .refused }) {
      return done(.failure(.unsupported(refused.refusedName)))
    }
    if let error = lackOfRoom(for: commands.count) {
      for command in commands {
        onReply?(CommandReport(name: command.name, address: address, duration: .zero, error: error))
      }
      return done(.failure(error))
    }
    let batch = ReplyBatch(commands.count, wrongType: wrongType, done)
    for (index, command) in commands.enumerated() { startReporting(command) { batch.take($0, at: index) } }
    // An attempt that fails at once must fail all of them.
    connectIfNeeded()
  }

  /// Starts a command, and passes its result to `onReply` first.
  private func startReporting(_ command: RedisCommand, _ reply: @escaping RedisLink.Reply) {
    guard let onReply else { return start(command, reply) }
    let began = scheduler.now
    start(command) { [scheduler, address] result in
      let error: RedisError? = if case .failure(let error) = result { error } else { nil }
      let duration = Duration.nanoseconds(began.distance(to: scheduler.now).nanoseconds)
      onReply(CommandReport(name: command.name, address: address, duration: duration, error: error))
      reply(result)
    }
  }

  /// Sends a command, or lets it wait for a connection, which the caller then opens with `connectIfNeeded()`.
  private func start(_ command: RedisCommand, _ reply: @escaping RedisLink.Reply) {
    if let error = lackOfRoom(for: 1) { return reply(.failure(error)) }
    switch state {
    case .closed: reply(.failure(.clientClosed))
    case .ready(let link): send(command, on: link, reply)
    case .idle, .connecting, .pausing: waiting.append((command, reply))
    }
  }

  /// The reason why `count` more commands may not wait; `nil` if they may, or if the client is closed.
  private func lackOfRoom(for count: Int) -> RedisError? {
    let present: Int
    switch state {
    case .closed: return nil
    case .ready(let link): present = link.waitingCount
    case .idle, .connecting, .pausing: present = waiting.count
    }
    return present <= options.maxWaiting - count ? nil : .tooManyWaiting(address, present + count)
  }

  private func connectIfNeeded() {
    guard case .idle = state, !waiting.isEmpty else { return }
    let login = RedisLogin(to: node ?? address, options, on: scheduler) { [weak self] result in self?.connected(result)
    }
    state = .connecting(login)
    login.begin()
  }

  private func connected(_ result: Result<RedisLink, RedisError>) {
    switch result {
    case .success(let link):
      state = .ready(link)
      failures = 0
      connectionCount += 1
      digests = [:]
      link.onEnd = { [weak self] _ in self?.lost() }
      let commands = waiting
      waiting = []
      if case .sentinel = address.place { link.endsAsReplica = true }
      for (command, reply) in commands { send(command, on: link, reply) }
    case .failure(let error):
      // By now, the keys may be on another node, so start again with the configured one.
      node = nil
      failures += 1
      var random = SystemRandomNumberGenerator()
      let pause = RetryPolicy.between(options.pauses).pause(before: failures - 1, using: &random)
      // Commands sent from now on wait for the next attempt instead of starting one.
      state = .pausing(scheduler.once(after: pause) { [weak self] in self?.paused() })
      failWaiting(error)
    }
  }

  private func paused() {
    state = .idle
    connectIfNeeded()
  }

  private func lost() {
    guard case .ready = state else { return }
    state = .idle
    connectIfNeeded()
  }

  // MARK: A cluster

  private func send(_ command: RedisCommand, on link: RedisLink, _ reply: @escaping RedisLink.Reply) {
    guard link.isClusterNode else { return link.send(command, reply) }
    if command.effect == .beginsTransaction { link.isInTransaction = true }
    // On the other node, it would be executed outside the transaction.
    let staysHere = link.isInTransaction
    if command.effect == .endsTransaction { link.isInTransaction = false }
    link.send(command) { [weak self] result in
      guard let self else { return reply(result) }
      if case .failure(.refused(_, let refusal)) = result, let place = refusal.movedTo, hops < 5,
        follow(place, from: link), !staysHere
      {
        start(command, reply)
        connectIfNeeded()
      } else {
        if case .success = result { hops = 0 }
        reply(result)
      }
      leaving.removeAll { old in
        guard old.waitingCount == 0 else { return false }
        old.end(.clientClosed)
        return true
      }
    }
  }

  /// Connects to the node that has the keys.
  ///
  /// - Returns: false if that node is unknown.
  private func follow(_ place: (host: String, port: Int), from link: RedisLink) -> Bool {
    // An earlier reply on this connection has already led to that node.
    guard case .ready(let current) = state, current === link else { return true }
    guard case .internet(let host, _) = (node ?? address).place else { return false }
    var next = address
    next.place = .internet(host: place.host.isEmpty ? host : place.host, port: place.port)
    node = next
    hops += 1
    link.onEnd = nil
    leaving.append(link)
    state = .idle
    return true
  }

  private func failWaiting(_ error: RedisError) {
    let commands = waiting
    waiting = []
    for (_, reply) in commands { reply(.failure(error)) }
  }
}
