import FeedStream

/// One connection to a server. Commands are sent in order, with a single write for all commands of one turn; each
/// reply belongs to the oldest command that has no reply yet.
final class RedisLink {
  typealias Reply = (Result<RedisValue, RedisError>) -> Void

  private struct Waiting {
    let sent: StreamInstant
    /// The number of bytes of this connection's commands, up to this command's last one.
    let end: Int
    /// Receives the reply; `nil` once it has been called.
    var reply: Reply?
  }

  private let address: RedisAddress
  private let scheduler: any LoopScheduler
  private let connection: Connection
  private let patience: Duration
  @exclusivity(unchecked) private var decoder: RESPDecoder
  /// The waiting commands, from `firstWaiting` on.
  @exclusivity(unchecked) private var waiting: ContiguousArray<Waiting> = []
  @exclusivity(unchecked) private var firstWaiting = 0
  @exclusivity(unchecked) private var out: [UInt8] = []
  /// The time when the next write was planned: commands sent in the same turn share one clock reading.
  @exclusivity(unchecked) private var planned = StreamInstant(nanoseconds: 0)
  @exclusivity(unchecked) private var isFlushPlanned = false
  /// The number of bytes of all commands so far, and of those that the system has accepted.
  @exclusivity(unchecked) private var sentBytes = 0
  @exclusivity(unchecked) private var acceptedBytes = 0
  /// The last time when bytes arrived, or bytes of the oldest waiting command were accepted.
  @exclusivity(unchecked) private var progressed = StreamInstant(nanoseconds: 0)
  private var isWriting = false
  private var isReading = false
  private var isDead = false
  private var deadline: (any Cancellable)?
  /// True if the server is a node of a cluster.
  var isClusterNode = false
  /// True after `MULTI` was sent to a cluster node, until `EXEC` or `DISCARD` is.
  var isInTransaction = false
  /// True to end the connection if the server has become a replica, because another server is now the primary.
  var endsAsReplica = false
  /// Receives the reason when the connection has ended, before the waiting commands receive it.
  var onEnd: ((RedisError) -> Void)?

  /// The size of a write that the system doesn't accept at once, in bytes: each one that completes is progress.
  private static let pieceBytes = 256 << 10

  /// - Parameter patience: the time that may pass without progress while a command waits for its reply.
  init(
    _ connection: Connection, to address: RedisAddress, patience: Duration, limits: RESPDecoder.Limits,
    on scheduler: any LoopScheduler
  ) {
    self.connection = connection
    self.address = address
    self.patience = patience
    self.scheduler = scheduler
    decoder = RESPDecoder(limits: limits)
  }

  deinit { deadline?.cancel() }

  var waitingCount: Int { waiting.count - firstWaiting }

  /// Starts reading, which also detects when the server closes the connection.
  func start() {
    guard !isDead, !isReading else { return }
    isReading = true
    // Unowned: the channel releases this closure when it is closed, which happens before this link is released.
    connection.channel.startReading { [unowned self] in receive($0) }
  }

  func send(_ command: RedisCommand, _ reply: @escaping Reply) {
    guard !isDead else { return reply(.failure(.closed(address))) }
    out.append(contentsOf: command.encoded)
    if !isFlushPlanned {
      planned = scheduler.now
      planFlush()
    }
    sentBytes += command.encoded.count
    waiting.append(Waiting(sent: planned, end: sentBytes, reply: reply))
    if deadline == nil { watch(for: patience) }
  }

  /// Closes the connection; all waiting commands receive the reason.
  func end(_ error: RedisError) {
    guard !isDead else { return }
    isDead = true
    deadline.take()?.cancel()
    connection.close()
    out = []
    let left = waiting[firstWaiting...]
    waiting = []
    firstWaiting = 0
    // Called first, so that a command that is sent again as a result gets another connection.
    onEnd.take()?(error)
    for one in left { one.reply?(.failure(error)) }
  }

  // MARK: Writing

  private func planFlush() {
    guard !isWriting else { return }
    isFlushPlanned = true
    scheduler.schedule { [weak self] in
      self?.isFlushPlanned = false
      self?.flush()
    }
  }

  private func flush() {
    guard !isDead, !isWriting, !out.isEmpty else { return }
    let chunk = Chunk(out)
    out.removeAll(keepingCapacity: out.capacity < 1 << 20)
    let count = connection.channel.writeNow(chunk)
    accepted(count)
    guard count < chunk.count else { return }
    isWriting = true
    write(chunk.dropFirst(count))
  }

  private func write(_ chunk: Chunk) {
    let piece = chunk.prefix(Self.pieceBytes)
    connection.channel.write([piece]) { [weak self] error in
      guard let self else { return }
      guard error == nil else { return end(.closed(address)) }
      accepted(piece.count)
      if piece.count < chunk.count { return write(chunk.dropFirst(piece.count)) }
      isWriting = false
      flush()
    }
  }

  /// Records progress, but not that of a later command: the system accepts bytes even if the server is stopped.
  private func accepted(_ count: Int) {
    if count > 0, firstWaiting < waiting.count, acceptedBytes < waiting[firstWaiting].end { progressed = scheduler.now }
    acceptedBytes += count
  }

  // MARK: Reading

  private func receive(_ result: ReadResult) {
    // A reply may release the client, and with it this link.
    withExtendedLifetime(self) {
      switch result {
      case .chunk(let chunk):
        progressed = scheduler.now
        decoder.feed(chunk)
        do {
          while !isDead, let value = try decoder.next() { deliver(value) }
        } catch {
          end(.unreadable(address, error as? RESPError ?? .malformed))
        }
      case .end, .failure: end(.closed(address))
      }
    }
  }

  private func deliver(_ value: RedisValue) {
    // A push message is not the reply to a command.
    if case .push = value { return }
    guard firstWaiting < waiting.count else { return end(.unreadable(address, .malformed)) }
    let reply = waiting[firstWaiting].reply.take()
    firstWaiting += 1
    if firstWaiting == waiting.count {
      waiting.removeAll(keepingCapacity: firstWaiting <= 4096)
      firstWaiting = 0
    } else if firstWaiting > 512, firstWaiting > waiting.count / 2 {
      waiting.removeFirst(firstWaiting)
      firstWaiting = 0
    }
    if case .error(let refusal) = value {
      reply?(.failure(.refused(address, refusal)))
      if endsAsReplica, refusal.kind == .readOnly { end(.closed(address)) }
    } else {
      reply?(.success(value))
    }
  }

  // MARK: Time

  private func watch(for time: Duration) {
    deadline = scheduler.once(after: time) { [weak self] in self?.look() }
  }

  private func look() {
    deadline = nil
    guard !isDead, firstWaiting < waiting.count else { return }
    let began = max(waiting[firstWaiting].sent, progressed)
    let waited = Duration.nanoseconds(began.distance(to: scheduler.now).nanoseconds)
    if waited >= patience { end(.timedOut(address, after: patience)) } else { watch(for: patience - waited) }
  }
}
