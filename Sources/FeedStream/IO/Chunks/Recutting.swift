extension Publisher where Output == Chunk {
  /// Delivers the same bytes in chunks of `count`; the last chunk contains the rest.
  ///
  ///     upstream    --abc--de--|
  ///     chunked(into: 2)
  ///     downstream  --(ab)-(cd)(e)|
  ///
  /// A chunk whose bytes all come from one upstream chunk is a slice of that chunk, but the last chunk may be a copy.
  /// Fewer than `count` bytes are held until more arrive or upstream finishes, so don't cut a request this way whose
  /// sender waits for the response.
  ///
  /// **Demand, failure, cancellation, policy:** as in `framed(by:)`.
  ///
  /// - Precondition: `count` is more than zero.
  public func chunked(into count: Int) -> Publishers.Framed<Self, RecuttingDecoder, Publishers.NonThrowing<Failure>> {
    framed(by: RecuttingDecoder(count: count))
  }

  /// Delivers all bytes as one chunk when upstream finishes.
  ///
  ///     upstream    --ab--c--|
  ///     joined(upTo: 10)
  ///     downstream  ---------(abc)|
  ///
  /// Delivers an empty chunk if there are no bytes.
  ///
  /// **Demand, cancellation:** as in `framed(by:)`. **Failure:** upstream's, and ``ChunkError/tooMany(limit:)`` as soon
  /// as there are more than `limit` bytes. **Policy:** holds all bytes.
  ///
  /// - Parameter limit: the maximum number of bytes.
  public func joined(
    upTo limit: Int
  ) -> Publishers.Framed<Self, JoiningDecoder, Publishers.Throwing<Failure>> {
    framed(by: JoiningDecoder(limit: limit))
  }

  /// Delivers the first `count` bytes, then finishes.
  ///
  ///     upstream    --abc--def--ghi--|
  ///     prefix(bytes: 5)
  ///     downstream  --abc--(de)|
  ///
  /// **Demand:** passes through; upstream is cancelled when the last byte arrives, or immediately if `count` is 0.
  /// **Failure, cancellation:** pass through. **Policy:** forwards.
  ///
  /// - Precondition: `count` is not negative.
  public func prefix(bytes count: Int) -> Publishers.PrefixBytes<Self> {
    Publishers.PrefixBytes(upstream: self, count: count)
  }
}

/// Cuts bytes into chunks of equal size: see ``Publisher/chunked(into:)``.
public struct RecuttingDecoder: ChunkDecoder, Sendable {
  private let count: Int
  private(set) var held: [Chunk] = []
  private var heldCount = 0

  /// - Precondition: `count` is more than zero.
  public init(count: Int) {
    precondition(count > 0, "chunked(into: \(count)): a chunk needs at least 1 byte; use 1 or more")
    self.count = count
  }

  public mutating func feed(_ chunk: Chunk) {
    guard !chunk.isEmpty else { return }
    held.append(chunk)
    heldCount += chunk.count
  }

  public mutating func next() -> Chunk? {
    if heldCount >= count { return take(count) }
    if let last = held.popLast() { held.appendCompacted(last) }
    return nil
  }

  public mutating func finish() -> Chunk? { heldCount > 0 ? take(heldCount) : nil }

  private mutating func take(_ count: Int) -> Chunk {
    var (parts, missing) = ([Chunk](), count)
    var used = 0
    while missing > held[used].count {
      parts.append(held[used])
      missing -= held[used].count
      used += 1
    }
    parts.append(held[used].prefix(missing))
    held[used] = held[used].dropFirst(missing)
    held.removeFirst(held[used].isEmpty ? used + 1 : used)
    heldCount -= count
    return Chunk(joining: parts)
  }
}

/// Joins all bytes into one chunk: see ``Publisher/joined(upTo:)``.
public struct JoiningDecoder: ChunkDecoder, Sendable {
  public typealias DecodingFailure = any Error

  private let limit: Int
  private var held: [Chunk]? = []
  private var count = 0

  /// - Precondition: `limit` is not negative.
  public init(limit: Int) {
    precondition(limit >= 0, "joined(upTo: \(limit)): the number of bytes cannot be negative; use 0 or more")
    self.limit = limit
  }

  public mutating func feed(_ chunk: Chunk) {
    held?.appendCompacted(chunk)
    count += chunk.count
  }

  public mutating func next() throws -> Chunk? {
    guard count <= limit else { throw ChunkError.tooMany(limit: limit) }
    return nil
  }

  public mutating func finish() throws -> Chunk? { held.take().map { Chunk(joining: $0) } }
}

extension Publishers {
  /// See ``Publisher/prefix(bytes:)``.
  public struct PrefixBytes<Upstream: Publisher>: Operator where Upstream.Output == Chunk {
    public typealias Output = Chunk

    public let upstream: Upstream
    public let count: Int

    public init(upstream: Upstream, count: Int) {
      precondition(count >= 0, "prefix(bytes: \(count)): the number of bytes cannot be negative; use 0 or more")
      self.upstream = upstream
      self.count = count
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == Failure {
      upstream.receive(stage: PrefixBytesStage<Failure>(ErasedSubscriber(subscriber), count))
    }
  }
}

@usableFromInline final class PrefixBytesStage<Failure: Error>: Stage<Chunk, Failure>, Subscriber {
  private var left: Int

  @usableFromInline init(_ down: ErasedSubscriber<Chunk, Failure>, _ count: Int) {
    left = count
    super.init(down)
  }

  override func began() {
    if left == 0 { began(completing: .finished) } else { super.began() }
  }

  @usableFromInline func receive(_ input: Chunk) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    guard input.count >= left else {
      left -= input.count
      return down.receive(input)
    }
    stop(after: input.prefix(left))
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }
}
