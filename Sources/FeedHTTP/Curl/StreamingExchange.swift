import FeedStream
import Foundation

/// One request whose response is delivered when its head has arrived; the body is delivered on demand.
final class StreamingExchange: HTTPExchange, RequestedWork {
  private var settle: ((Result<StreamingResponse, HTTPError>) -> Void)?
  /// The subscription to the body.
  private var reader: PullSubscription<Chunk, HTTPError>?
  /// The completion of the transfer, once it is known. Bytes that arrived earlier are delivered first.
  private var ending: Subscribers.Completion<HTTPError>?
  private let body = BodyStream()
  /// True while this exchange is among the client's ``CurlHTTPClient/arrivals``.
  private var isNoted = false
  /// The head of a response that failed during the same libcurl call that delivered its first bytes.
  private var head: HTTPResponse?

  override var stream: BodyStream? { body }

  func start(_ settle: @escaping (Result<StreamingResponse, HTTPError>) -> Void) {
    self.settle = settle
    begin()
  }

  func cancel() {
    guard settle.take() != nil else { return }
    stop()
  }

  /// Called during a call to libcurl; the bytes are delivered after that call.
  override func noteArrival() {
    guard !isNoted else { return }
    isNoted = true
    client.arrivals.append(self)
  }

  /// Delivers the bytes that have arrived.
  func deliverArrived() {
    isNoted = false
    // The transfer may have begun another request since the bytes arrived.
    if settle != nil, case .running(let transfer) = state, transfer.reader.isHeaderWhole {
      open(transfer.head(of: self))
    }
    serve()
  }

  override func keepHead(of transfer: CurlTransfer) {
    if settle != nil, !body.isDrained { head = transfer.head(of: self) }
  }

  override func deliver(_ result: Result<HTTPResponse, HTTPError>) {
    end()
    switch result {
    case .success(let response):
      ending = .finished
      open(response)
    case .failure(let error):
      ending = .failure(error)
      if let head = head.take() { open(head) }
      // If the response hasn't been delivered, no bytes have arrived for it.
      if settle != nil { return fail(error) }
    }
    serve()
  }

  /// Fails, and drops the bytes that have arrived.
  private func fail(_ error: HTTPError) {
    stop()
    ending = .failure(error)
    if let settle = settle.take() {
      settle(.failure(error))
    } else {
      reader.take()?.end(.failure(error))
    }
  }

  /// - Parameter head: the response's head; its body is ignored.
  private func open(_ head: HTTPResponse) {
    guard let settle = settle.take() else { return }
    let body = ArrivingBody(lease: ArrivingBody.Lease(self))
    var response = StreamingResponse(
      status: head.status, headers: head.headers, url: head.url, body: AnyPublisher(body), redirects: head.redirects)
    response.isPrivate = head.isPrivate
    settle(.success(response))
  }

  /// Ends the transfer and drops the bytes that have arrived.
  private func stop() {
    end()
    body.discard()
  }
}

// MARK: - The body's reader

extension StreamingExchange: PullSource {
  /// Called when the body will not be read.
  fileprivate func abandon() { stop() }

  fileprivate func attach(_ reader: PullSubscription<Chunk, HTTPError>) {
    self.reader = reader
    reader.begin()
    serve()
  }

  func cancelled(_: PullSubscription<Chunk, HTTPError>) {
    reader = nil
    stop()
  }

  /// Delivers available bytes on demand, and resumes reading from the connection when there is room.
  private func serve() {
    guard let reader else { return }
    if let ending, body.isDrained { finish(ending) } else { reader.serve() }
  }

  func wanted(by reader: PullSubscription<Chunk, HTTPError>) -> Bool {
    switch body.next() {
    case .chunk(let chunk): reader.hold(chunk)
    case .failed(let kind, let cause): fail(HTTPError(kind, host: request.url.hostAndPort, cause: cause))
    case .nothing: guard ending != nil || resume() else { return false }
    }
    // The chunk that was just read may be the last.
    if let ending, body.isDrained { finish(ending) }
    return true
  }

  private func finish(_ ending: Subscribers.Completion<HTTPError>) {
    if case .failure(let error) = ending { return fail(error) }
    if let (kind, cause) = body.problemAtEnd {
      return fail(HTTPError(kind, host: request.url.hostAndPort, cause: cause))
    }
    body.discard()
    reader.take()?.end(.finished)
  }

  /// Resumes reading from the connection.
  ///
  /// - Returns: true if there may be more bytes, or the completion.
  private func resume() -> Bool {
    guard body.isPaused, case .running(let transfer) = state else { return false }
    body.isPaused = false
    client.resume(transfer)
    if transfer.reader.failure != nil { deliver(.failure(transfer.error(of: self))) }
    return true
  }
}

/// The publisher of an arriving body. It has one subscriber.
private struct ArrivingBody: Publisher, _DeliversAtHome {
  typealias Output = Chunk
  typealias Failure = HTTPError

  /// Closes the transfer when it is no longer possible to subscribe to the body.
  final class Lease {
    let exchange: StreamingExchange
    var isTaken = false

    init(_ exchange: StreamingExchange) { self.exchange = exchange }

    deinit { if !isTaken { exchange.abandon() } }
  }

  let lease: Lease

  func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == HTTPError {
    precondition(!lease.isTaken, "HTTP: a body arrives only once; subscribe to it once, or use share()")
    lease.isTaken = true
    lease.exchange.attach(PullSubscription("HTTP", subscriber, lease.exchange))
  }
}
