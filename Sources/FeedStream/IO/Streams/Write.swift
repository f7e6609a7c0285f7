extension Publisher where Output == Chunk {
  /// Writes the bytes to `connection`, and finishes when the last of them has been handed to the system.
  ///
  ///     upstream       --ab--cd--|
  ///     write(to: connection)
  ///     the other side ---ab--cd
  ///     downstream     -----------|
  ///
  /// What waits is gathered into one write. A connection is written by one publisher at a time; another one fails.
  ///
  /// **Demand:** begins at the subscription, and asks upstream for one chunk at a time, only while less than `limit`
  /// bytes wait: a reader that does not read costs no more. **Failure:** ``WriteError``, with what was not written.
  /// Upstream's failure comes after what it had sent is written. **Cancellation:** cancels upstream and drops what
  /// waits; what the system has been given is written. **Policy:** holds `limit` bytes and one chunk.
  ///
  /// - Parameters:
  ///   - connection: where to.
  ///   - limit: how many bytes may wait: 256 KiB unless changed.
  ///   - ending: what becomes of the connection when upstream has finished; it is left as it is, unless changed.
  public func write(
    to connection: Connection, limit: Int = 256 * 1024, atEnd ending: WriteEnding = .leavesOpen
  ) -> Publishers.Write<Self> {
    Publishers.Write(upstream: self, connection: connection, limit: limit, ending: ending)
  }
}

/// What becomes of a connection when everything is written.
public enum WriteEnding: Hashable, Sendable {
  /// Nothing: more may be written.
  case leavesOpen
  /// The other side is told that nothing more comes; it may still be read.
  case endsWriting
  /// It is closed.
  case closes
}

/// Why bytes were not written.
public struct WriteError: Error, CustomStringConvertible {
  /// A ``SystemError``, or the failure of the publisher that was written.
  public let cause: any Error
  /// What was not written. Of what the system had been given when it failed, a beginning may have arrived all the same.
  public let unwritten: [Chunk]

  public var description: String {
    let count = unwritten.reduce(0) { $0 + $1.count }
    return count == 0 ? "\(cause)" : "\(cause); \(count) bytes were not written"
  }
}

extension Publishers {
  /// See ``Publisher/write(to:limit:atEnd:)``.
  public struct Write<Upstream: Publisher>: Publisher where Upstream.Output == Chunk {
    public typealias Output = Never
    public typealias Failure = WriteError

    public let upstream: Upstream
    let connection: Connection
    let limit: Int
    let ending: WriteEnding

    init(upstream: Upstream, connection: Connection, limit: Int, ending: WriteEnding) {
      precondition(limit > 0, "write(limit: \(limit)): nothing could wait to be written; use 1 or more")
      self.upstream = upstream
      self.connection = connection
      self.limit = limit
      self.ending = ending
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Never, S.Failure == WriteError {
      guard !connection.isWritten, !connection.isClosed else {
        let code = connection.isClosed ? Errno.closed : Errno.busy
        let error = SystemError("write to", "\(connection.peer)", code: code)
        return Fail(error: WriteError(cause: error, unwritten: [])).receive(subscriber: subscriber)
      }
      let stage = WriteStage<Upstream.Failure>(ErasedSubscriber(subscriber), connection, limit, ending)
      subscriber.receive(subscription: stage)
      upstream.receive(subscriber: stage)
    }
  }
}

private final class WriteStage<UpstreamFailure: Error>: GuardedSubscription, Subscriber {
  typealias Input = Chunk
  typealias Failure = UpstreamFailure

  private var down: ErasedSubscriber<Never, WriteError>?
  private var connection: Connection?
  private let limit: Int
  private let ending: WriteEnding
  private var up: (any Subscription)?
  private var waiting: [Chunk] = []
  private var writing: [Chunk] = []
  /// Bytes, of both.
  private var count = 0
  private var isAsked = false
  private var completion: Subscribers.Completion<UpstreamFailure>?

  init(_ down: ErasedSubscriber<Never, WriteError>, _ connection: Connection, _ limit: Int, _ ending: WriteEnding) {
    self.down = down
    self.connection = connection
    self.limit = limit
    self.ending = ending
    connection.isWritten = true
  }

  // MARK: Upstream

  func receive(subscription: any Subscription) {
    guard up == nil, connection != nil, completion == nil else { return subscription.cancel() }
    up = subscription
    ask()
  }

  func receive(_ input: Chunk) -> Subscribers.Demand {
    guard connection != nil, completion == nil else { return .none }
    isAsked = false
    if !input.isEmpty {
      waiting.append(input)
      count += input.count
      writeWaiting()
    }
    guard connection != nil, count < limit else { return .none }
    isAsked = true
    return .max(1)
  }

  func receive(completion: Subscribers.Completion<UpstreamFailure>) {
    guard connection != nil, self.completion == nil else { return }
    self.completion = completion
    up = nil
    endIfDone()
  }

  private func ask() {
    guard !isAsked, count < limit, let up else { return }
    isAsked = true
    up.request(.max(1))
  }

  // MARK: Writing

  /// Everything that waits, in one write, unless one is on its way.
  private func writeWaiting() {
    guard writing.isEmpty, !waiting.isEmpty, let connection else { return }
    swap(&writing, &waiting)
    connection.channel.write(writing) { [self] error in hasWritten(error) }
  }

  private func hasWritten(_ error: SystemError?) {
    guard connection != nil else { return }
    if let error { return fail(error) }
    count -= writing.reduce(0) { $0 + $1.count }
    writing.removeAll(keepingCapacity: true)
    writeWaiting()
    ask()
    endIfDone()
  }

  private func endIfDone() {
    guard let completion, let connection, writing.isEmpty, waiting.isEmpty else { return }
    switch completion {
    case .failure(let error): fail(error)
    case .finished where ending == .endsWriting:
      connection.channel.endWriting { [self] error in
        if let error { fail(error) } else { release()?.receive(completion: .finished) }
      }
    case .finished:
      let down = release()
      if ending == .closes { connection.close() }
      down?.receive(completion: .finished)
    }
  }

  private func fail(_ cause: any Error) {
    let error = WriteError(cause: cause, unwritten: writing + waiting)
    let up = self.up
    let down = release()
    up?.cancel()
    down?.receive(completion: .failure(error))
  }

  // MARK: Downstream

  override func requested(_ demand: Subscribers.Demand) { demand.assertPositive("write(to:)") }

  override func cancelled() {
    let (up, connection) = (up, connection)
    guard release() != nil else { return }
    up?.cancel()
    if ending == .closes { connection?.close() }
  }

  private func release() -> ErasedSubscriber<Never, WriteError>? {
    connection?.isWritten = false
    connection = nil
    up = nil
    waiting = []
    return down.take()
  }
}
