internal import FeedStream

/// A response as it is sent, after the request's conditions, range and codings have been applied.
struct PreparedResponse {
  enum Sending {
    case nothing
    case bytes(Chunk)
    case stream(AnyPublisher<Chunk, any Error>)
    case endless(any EndlessBody)
  }

  private(set) var response: ServerResponse
  private(set) var delimiting = ResponseHeads.Delimiting.none
  private(set) var sending = Sending.nothing
  /// A long body that was passed as a whole; the stream retains it.
  private(set) var whole: Chunk?

  init(_ response: ServerResponse, to head: RequestHead) {
    self.response = response
    let choice = Compression.Choice(response, head)
    choice.announce(in: &self.response)
    let isRead = head.method == .get || head.method == .head
    if isRead, response.status == .ok {
      Conditions.apply(&self.response, to: head)
      // A 304 has the entity tag of the response that it represents.
      if self.response.status == .notModified { choice.weakenTag(of: &self.response) }
      if self.response.status == .ok, !Ranges.apply(&self.response, to: head) { choice.apply(to: &self.response) }
    } else {
      choice.apply(to: &self.response)
    }
    delimit(head)
    if case .stream = sending, case .bytes(let bytes) = response.body { whole = bytes }
  }

  /// The body of a response that is sent unchanged, as most are, because neither the request nor the response's fields
  /// require a change.
  static func plainBytes(_ response: ServerResponse, to head: RequestHead) -> Chunk? {
    guard case .bytes(let bytes) = response.body, bytes.count < Compression.least, !head.asksForPart,
      head.method == .get || head.method != .head, !response.status.hasNoBody, !response.headers.decideAboutBody
    else { return nil }
    return bytes
  }

  private mutating func delimit(_ head: RequestHead) {
    let isOld = head.minorVersion == 0
    switch response.body {
    case .none, .upgrade: delimiting = .length(0)
    case .bytes(let bytes):
      delimiting = .length(bytes.count)
      sending = .bytes(bytes)
    case .file(let file):
      delimiting = .length(file.range.count)
      sending = file.range.isEmpty ? .nothing : .stream(file.chunks.eraseFailureType().eraseToAnyPublisher())
    case .stream(let publisher, let length?):
      delimiting = .length(length)
      sending = length == 0 ? .nothing : .stream(publisher)
    case .stream(let publisher, nil):
      delimiting = isOld ? .close : .chunked
      sending = .stream(publisher)
    case .endless(let body):
      delimiting = .close
      sending = .endless(body)
    }
    if response.status.hasNoBody {
      (delimiting, sending) = (.none, .nothing)
    } else if head.method == .head {
      // The fields are those of the response to GET, except for a length that is known only after sending.
      if delimiting == .chunked || delimiting == .close { delimiting = .none }
      sending = .nothing
    }
  }

  /// The body, if all of it is in memory.
  var bytes: Chunk? { if case .bytes(let bytes) = sending { bytes } else { nil } }
}
