import FeedStream
import Foundation

/// The body of a request on its way to libcurl: a publisher on one side, the read callback on the other.
///
/// A chunk is requested when libcurl has taken all earlier bytes, but never during a call to libcurl. The callback only
/// records that it needs more, and the client requests a chunk after the call. A file that is cached in memory is read
/// directly into libcurl's buffer; chunks are requested only for bytes that must be read from a disk.
final class BodyUpload {
  enum Read {
    case bytes(Int)
    /// No bytes are available yet: libcurl calls again after `resume`.
    case nothing
    case end
  }

  private let open: () -> AnyPublisher<Chunk, any Error>
  /// The number of bytes that were announced.
  let length: Int?
  /// The length for libcurl, which would not read a body of no bytes, and so not notice any.
  let sentLength: Int?
  /// Called when there is something to read again.
  var resume: () -> Void = {}
  /// Called once, when the body cannot be sent.
  var fail: (any Error) -> Void = { _ in }
  private var attempt: Attempt?
  private var isAsked = false
  private var isOver = false
  private var chunks = FIFO<Chunk>()
  /// The chunk that libcurl is reading.
  private var rest = Chunk()
  private var delivered = 0
  private(set) var isPaused = false
  /// Attempts that a restart replaced; they are cancelled after the call to libcurl.
  private var abandoned: [Attempt] = []

  /// - Parameter isRead: true if the length isn't certain until the body is read.
  init(length: Int?, isRead: Bool, _ open: @escaping () -> AnyPublisher<Chunk, any Error>) {
    self.length = length
    sentLength = isRead && length == 0 ? nil : length
    self.open = open
  }

  /// True if libcurl has taken all bytes and the next chunk should be requested.
  var wantsMore: Bool {
    guard !isOver, !isAsked, rest.isEmpty, chunks.isEmpty else { return false }
    // libcurl reads cached bytes itself for as long as there are any.
    return isPaused || attempt?.readsCached != true || delivered == length
  }

  /// True if reading the body has begun.
  var isBegun: Bool { attempt != nil }

  /// Fills `room`; called by libcurl.
  func read(into room: UnsafeMutableRawBufferPointer) -> Read {
    var filled = 0
    while filled < room.count {
      if rest.isEmpty {
        guard let next = chunks.popFirst() else { break }
        rest = next
        continue
      }
      let count = min(rest.count, room.count - filled)
      rest.withUnsafeBytes { _ = memcpy(room.baseAddress! + filled, $0.baseAddress!, count) }
      filled += count
      rest = rest[count..<rest.count]
    }
    if filled > 0 { return .bytes(filled) }
    if isOver { return .end }
    if let count = readCached(into: room) { return .bytes(count) }
    isPaused = true
    return .nothing
  }

  /// Reads cached bytes up to the announced length. If the body is longer, its next chunk shows that.
  private func readCached(into room: UnsafeMutableRawBufferPointer) -> Int? {
    guard !isAsked, let attempt, attempt.readsCached else { return nil }
    let most = length.map { $0 - delivered } ?? room.count
    guard most > 0, let count = attempt.readCached(into: .init(rebasing: room.prefix(most))) else { return nil }
    delivered += count
    return count
  }

  /// Requests the next chunk. Do not call this during a call to libcurl.
  func ask() {
    let abandoned = self.abandoned
    self.abandoned = []
    for attempt in abandoned { attempt.cancel() }
    guard wantsMore else { return }
    isAsked = true
    if let attempt { return attempt.request() }
    let attempt = Attempt(self)
    self.attempt = attempt
    open().subscribe(attempt)
  }

  /// Starts over at the first byte. Called by libcurl.
  func restart() {
    if let attempt = attempt.take() { abandoned.append(attempt) }
    chunks.removeAll()
    rest = Chunk()
    (isAsked, isOver, isPaused, delivered) = (false, false, false, 0)
  }

  /// Stops reading, because the transfer is over.
  func cancel() {
    isOver = true
    chunks.removeAll()
    rest = Chunk()
    (resume, fail) = ({}, { _ in })
    let attempts = abandoned + (attempt.map { [$0] } ?? [])
    (attempt, abandoned) = (nil, [])
    for attempt in attempts { attempt.cancel() }
  }

  fileprivate func receive(_ input: Chunk, _ attempt: Attempt) -> Subscribers.Demand {
    guard !isOver, attempt === self.attempt else { return .none }
    isAsked = false
    delivered += input.count
    if let length, delivered > length {
      stop(HTTPBody.Problem.length(announced: length, delivered: delivered))
      return .none
    }
    if !input.isEmpty { chunks.append(input) }
    // An empty chunk leaves nothing to read: the next one is requested immediately.
    guard chunks.isEmpty, rest.isEmpty else {
      wake()
      return .none
    }
    isAsked = true
    return .max(1)
  }

  fileprivate func receive(completion: Subscribers.Completion<any Error>, _ attempt: Attempt) {
    guard !isOver, attempt === self.attempt else { return }
    switch completion {
    case .failure(let error): stop(error)
    case .finished:
      if let length, delivered < length {
        return stop(HTTPBody.Problem.length(announced: length, delivered: delivered))
      }
      isOver = true
      wake()
    }
  }

  private func stop(_ error: any Error) {
    let fail = fail
    cancel()
    fail(error)
  }

  private func wake() {
    guard isPaused else { return }
    isPaused = false
    resume()
  }
}

/// The subscriber of the body's source for one read, from the first byte.
private final class Attempt: Subscriber {
  typealias Input = Chunk
  typealias Failure = any Error

  private var upload: BodyUpload?
  private var up: (any Subscription)?
  private var cached: (any ReadsCached)?

  init(_ upload: BodyUpload) { self.upload = upload }

  var readsCached: Bool { cached != nil }

  func readCached(into room: UnsafeMutableRawBufferPointer) -> Int? { cached?.readCached(into: room) }

  func request() { up?.request(.max(1)) }

  func cancel() {
    upload = nil
    cached = nil
    up.take()?.cancel()
  }

  func receive(subscription: any Subscription) {
    guard upload != nil, up == nil else { return subscription.cancel() }
    up = subscription
    cached = subscription as? any ReadsCached
    subscription.request(.max(1))
  }

  func receive(_ input: Chunk) -> Subscribers.Demand { upload?.receive(input, self) ?? .none }

  func receive(completion: Subscribers.Completion<any Error>) {
    (up, cached) = (nil, nil)
    upload.take()?.receive(completion: completion, self)
  }
}
