import FeedStream
import Foundation

/// The body of a request on its way to libcurl: a publisher on one side, the read callback on the other.
///
/// The publisher is asked for a chunk when libcurl has taken what there was, and never from within libcurl: the callback
/// notes that it wants more, and the client asks when the call is over. A file that is in memory is read into libcurl's own
/// buffer; a chunk is requested only for bytes that are on a disk.
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
  /// Completed readings, which are cancelled after libcurl's call.
  private var abandoned: [Attempt] = []

  init(length: Int?, _ open: @escaping () -> AnyPublisher<Chunk, any Error>) {
    self.length = length
    self.open = open
  }

  /// True when libcurl has taken what there was.
  var wantsMore: Bool {
    guard !isOver, !isAsked, rest.isEmpty, chunks.isEmpty else { return false }
    // It takes more itself, as long as it finds something.
    return isPaused || attempt?.readsCached != true || delivered == length
  }

  /// True if a part of it has been requested.
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

  /// Reads what is in memory, and nothing beyond the announced length: that there is more is seen when a chunk comes.
  private func readCached(into room: UnsafeMutableRawBufferPointer) -> Int? {
    guard !isAsked, let attempt, attempt.readsCached else { return nil }
    let most = length.map { $0 - delivered } ?? room.count
    guard most > 0, let count = attempt.readCached(into: .init(rebasing: room.prefix(most))) else { return nil }
    delivered += count
    return count
  }

  /// Requests what comes next. Not called within libcurl.
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

  /// Begins again with the first byte. Called by libcurl.
  func restart() {
    if let attempt = attempt.take() { abandoned.append(attempt) }
    chunks.removeAll()
    rest = Chunk()
    (isAsked, isOver, isPaused, delivered) = (false, false, false, 0)
  }

  /// The transfer is over.
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

/// One reading of a body, from its beginning: its source's subscriber.
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
