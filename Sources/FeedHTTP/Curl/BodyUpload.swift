import FeedStream
import Foundation

/// The body of a request on its way to libcurl: a publisher on one side, the read callback on the other.
///
/// A chunk is requested when libcurl has taken all bytes, but never from within libcurl: the callback records that more
/// is needed, and the client makes the request after the call.
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

  /// True if libcurl has taken all bytes.
  var wantsMore: Bool { !isOver && !isAsked && rest.isEmpty && chunks.isEmpty }

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
    isPaused = true
    return .nothing
  }

  /// Requests the next chunk. Not called within libcurl.
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

  init(_ upload: BodyUpload) { self.upload = upload }

  func request() { up?.request(.max(1)) }

  func cancel() {
    upload = nil
    up.take()?.cancel()
  }

  func receive(subscription: any Subscription) {
    guard upload != nil, up == nil else { return subscription.cancel() }
    up = subscription
    subscription.request(.max(1))
  }

  func receive(_ input: Chunk) -> Subscribers.Demand { upload?.receive(input, self) ?? .none }

  func receive(completion: Subscribers.Completion<any Error>) {
    up = nil
    upload.take()?.receive(completion: completion, self)
  }
}
