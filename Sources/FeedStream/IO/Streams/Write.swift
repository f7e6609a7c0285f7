extension Publisher where Output == Chunk {
  /// Writes the bytes to `connection`, and finishes when the system has accepted the last of them.
  ///
  ///     upstream       --ab--cd--|
  ///     write(to: connection)
  ///     the other side ---ab--cd
  ///     downstream     -----------|
  ///
  /// Waiting chunks are gathered into one write. Only one publisher at a time can write to a connection; a second one
  /// fails.
  ///
  /// **Demand:** begins on subscription, and requests one chunk at a time from upstream, only while fewer than
  /// `limit` bytes wait, so that a stalled reader doesn't increase memory use. **Failure:** ``WriteError``, with the
  /// chunks that were not written. Upstream's failure is delivered after the bytes that arrived before it have been
  /// written; the failure is `ECANCELED` if the connection is closed before all bytes are written. **Cancellation:**
  /// cancels upstream and drops waiting bytes; a write that is already running completes. **Policy:** holds `limit`
  /// bytes and one chunk.
  ///
  /// - Parameters:
  ///   - connection: the connection to write to.
  ///   - limit: the maximum number of bytes that wait; 256 KiB by default.
  ///   - ending: what to do with the connection when upstream has finished; it stays open by default.
  public func write(
    to connection: Connection, limit: Int = 256 * 1024, atEnd ending: WriteEnding = .leavesOpen
  ) -> Publishers.Write<Self> {
    Publishers.Write(upstream: self, limit: limit) { () throws(SystemError) in
      try connection.target(ending)
    }
  }
}

/// The action taken on a connection when all bytes have been written.
public enum WriteEnding: Hashable, Sendable {
  /// The connection stays open for more writes.
  case leavesOpen
  /// The sending side is closed; you can still read from the connection.
  case endsWriting
  /// The connection is closed. A cancellation closes it, too; a failure doesn't.
  case closes
}

/// The reason why bytes were not written.
public struct WriteError: Error, CustomStringConvertible {
  /// A ``SystemError``, or the failure of the publisher whose bytes were written.
  public let cause: any Error
  /// The chunks that were not written. Some of the bytes that were being written may have arrived.
  public let unwritten: [Chunk]

  public var description: String {
    let count = unwritten.reduce(0) { $0 + $1.count }
    let bytes = count == 1 ? "1 byte was" : "\(count) bytes were"
    return count == 0 ? "\(cause)" : "\(cause); \(bytes) not written"
  }
}

extension Publishers {
  /// See ``Publisher/write(to:limit:atEnd:)`` and ``Publisher/write(to:_:permissions:syncs:limit:on:)``.
  public struct Write<Upstream: Publisher>: Publisher, _DeliversAtHome where Upstream.Output == Chunk {
    public typealias Output = Never
    public typealias Failure = WriteError

    public let upstream: Upstream
    let limit: Int
    let open: () throws(SystemError) -> WriteTarget

    /// - Parameter open: called for each subscriber.
    init(upstream: Upstream, limit: Int, _ open: @escaping () throws(SystemError) -> WriteTarget) {
      precondition(limit > 0, "write(limit: \(limit)): no bytes could be buffered; use 1 or more")
      self.upstream = upstream
      self.limit = limit
      self.open = open
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Never, S.Failure == WriteError {
      guard let stage = newStage(ErasedSubscriber(subscriber)) else { return }
      subscriber.receive(subscription: stage)
      upstream.receive(subscriber: stage)
    }

    /// - Returns: `nil` if the destination can't be opened; the subscriber has then already received the failure.
    @usableFromInline func newStage(_ down: ErasedSubscriber<Never, WriteError>) -> WriteStage<Upstream.Failure>? {
      let target: WriteTarget
      do throws(SystemError) {
        target = try open()
      } catch {
        Fail(error: WriteError(cause: error, unwritten: [])).receive(subscriber: down)
        return nil
      }
      return WriteStage(down, target, limit)
    }
  }
}

extension Connection {
  /// Reserves the connection for one writing publisher.
  fileprivate func target(_ ending: WriteEnding) throws(SystemError) -> WriteTarget {
    try beginWriting("write to")
    var target = WriteTarget(channel, endsWriting: ending == .endsWriting) { [self] reason in
      endWriting()
      if ending == .closes, reason != .failed { close() }
    }
    target.hearOfClosing = { [unowned self] fail in
      users.closeWriter = { [name] in fail(SystemError("write to", name, code: Errno.cancelled)) }
    }
    return target
  }
}

@usableFromInline final class WriteStage<UpstreamFailure: Error>: GuardedSubscription, Subscriber {
  @usableFromInline typealias Input = Chunk
  @usableFromInline typealias Failure = UpstreamFailure

  @exclusivity(unchecked) private var down: ErasedSubscriber<Never, WriteError>?
  /// The destination; `nil` once the stream is over.
  @exclusivity(unchecked) private var target: WriteTarget?
  private let limit: Int
  @exclusivity(unchecked) private var up: (any Subscription)?
  @exclusivity(unchecked) private var waiting: [Chunk] = []
  @exclusivity(unchecked) private var writing: [Chunk] = []
  /// The number of bytes in `waiting` and `writing`.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var isAsked = false
  @exclusivity(unchecked) private var isEnding = false
  @exclusivity(unchecked) private var completion: Subscribers.Completion<UpstreamFailure>?

  init(_ down: ErasedSubscriber<Never, WriteError>, _ target: WriteTarget, _ limit: Int) {
    self.down = down
    self.target = target
    self.limit = limit
    super.init()
    target.hearOfClosing? { [weak self] in self?.fail($0) }
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.upstreams = [up].compactMap { $0 }
    facts.delivers(to: down)
    facts.held = waiting.count + writing.count
    facts.isOver = target == nil
  }

  // MARK: Upstream

  @usableFromInline func receive(subscription: any Subscription) {
    guard up == nil, target != nil, completion == nil else { return subscription.cancel() }
    up = subscription
    ask()
  }

  @usableFromInline func receive(_ input: Chunk) -> Subscribers.Demand {
    guard let target, completion == nil else { return .none }
    isAsked = false
    if !input.isEmpty {
      let written = writing.isEmpty ? target.sink.writeFirst(input) : 0
      if written < input.count {
        waiting.append(written == 0 ? input : input[written..<input.count])
        count += input.count - written
        writeWaiting()
      }
    }
    guard self.target != nil, count < limit else { return .none }
    isAsked = true
    return .max(1)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<UpstreamFailure>) {
    guard target != nil, self.completion == nil else { return }
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

  /// Writes all waiting chunks in one call, unless a write is running.
  private func writeWaiting() {
    guard writing.isEmpty, !waiting.isEmpty, let target else { return }
    swap(&writing, &waiting)
    target.sink.write(writing) { [self] error in hasWritten(error) }
  }

  private func hasWritten(_ error: SystemError?) {
    guard let target else { return }
    if let error { return fail(error, after: target.sink.writtenOfFailed) }
    count -= writing.reduce(0) { $0 + $1.count }
    writing.removeAll(keepingCapacity: true)
    writeWaiting()
    ask()
    endIfDone()
  }

  private func endIfDone() {
    guard let completion, let target, writing.isEmpty, waiting.isEmpty, !isEnding else { return }
    switch completion {
    case .failure(let error): fail(error)
    case .finished where target.endsWriting:
      isEnding = true
      target.sink.endWriting { [self] error in
        if let error { fail(error) } else { release(.finished)?.receive(completion: .finished) }
      }
    case .finished: release(.finished)?.receive(completion: .finished)
    }
  }

  /// - Parameter written: the number of bytes that the failed write had written.
  private func fail(_ cause: any Error, after written: Int = 0) {
    var (unwritten, written) = ((writing + waiting)[...], written)
    while let chunk = unwritten.first, chunk.count <= written, written > 0 {
      unwritten.removeFirst()
      written -= chunk.count
    }
    if written > 0, let chunk = unwritten.popFirst() {
      unwritten.insert(chunk.dropFirst(written), at: unwritten.startIndex)
    }
    let up = self.up
    let down = release(.failed)
    up?.cancel()
    down?.receive(completion: .failure(WriteError(cause: cause, unwritten: Array(unwritten))))
  }

  // MARK: Downstream

  override func requested(_ demand: Subscribers.Demand) { demand.assertPositive("write(to:)") }

  override func cancelled() {
    let up = self.up
    guard release(.cancelled) != nil else { return }
    up?.cancel()
  }

  deinit { _ = release(.cancelled) }

  private func release(_ ending: WriteTarget.Ending) -> ErasedSubscriber<Never, WriteError>? {
    let (down, target) = (down.take(), target.take())
    up = nil
    waiting = []
    target?.release(ending)
    return down
  }
}
