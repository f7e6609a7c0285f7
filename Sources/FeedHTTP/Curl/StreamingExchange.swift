import FeedStream
import Foundation

/// One request whose answer is delivered with its head, and whose body is delivered on demand.
final class StreamingExchange: HTTPExchange, RequestedWork {
  /// The subscriber to the body, its type erased.
  fileprivate struct Reader {
    let value: (Chunk) -> Subscribers.Demand
    let completion: (Subscribers.Completion<HTTPError>) -> Void
  }

  private var settle: ((Result<StreamingResponse, HTTPError>) -> Void)?
  private var reader: Reader?
  private var demand = Subscribers.Demand.none
  private var isServing = false
  /// The end of the transfer, once it has come.
  private var ending: Subscribers.Completion<HTTPError>?
  private let body = BodyStream()
  /// True while the client knows that something has arrived.
  private var isNoted = false

  override var stream: BodyStream? { body }

  func start(_ settle: @escaping (Result<StreamingResponse, HTTPError>) -> Void) {
    self.settle = settle
    begin()
  }

  func cancel() {
    guard settle.take() != nil else { return }
    stop()
  }

  /// Called within libcurl's own calls: the bytes are handed on after that.
  override func noteArrival() {
    guard !isNoted else { return }
    isNoted = true
    client.arrivals.append(self)
  }

  /// Delivers what has arrived.
  func deliverArrived() {
    isNoted = false
    if settle != nil, case .running(let transfer) = state { open(transfer.head(of: self)) }
    serve()
  }

  override func deliver(_ result: Result<HTTPResponse, HTTPError>) {
    end()
    switch result {
    case .success(let response):
      ending = .finished
      open(response)
      serve()
    case .failure(let error): fail(error)
    }
  }

  private func fail(_ error: HTTPError) {
    stop()
    ending = .failure(error)
    if let settle = settle.take() {
      settle(.failure(error))
    } else {
      reader.take()?.completion(.failure(error))
    }
  }

  /// - Parameter head: its body is not looked at.
  private func open(_ head: HTTPResponse) {
    guard let settle = settle.take() else { return }
    let body = ArrivingBody(lease: ArrivingBody.Lease(self))
    var response = StreamingResponse(
      status: head.status, headers: head.headers, url: head.url, body: AnyPublisher(body), redirects: head.redirects)
    response.isPrivate = head.isPrivate
    settle(.success(response))
  }

  /// Ends the transfer and forgets what has arrived.
  private func stop() {
    end()
    body.discard()
  }
}

// MARK: - The body's reader

extension StreamingExchange {
  /// Nobody will read the body.
  fileprivate func abandon() { stop() }

  fileprivate func attach(_ reader: Reader) {
    self.reader = reader
    if case .failure(let error) = ending { fail(error) } else { serve() }
  }

  fileprivate func requestBody(_ demand: Subscribers.Demand) {
    self.demand += demand
    serve()
  }

  fileprivate func cancelBody() {
    reader = nil
    stop()
  }

  /// Delivers what there is and is asked for, and lets the connection be read again when there is room.
  private func serve() {
    // A request made within a delivery is served by the running loop.
    guard !isServing else { return }
    isServing = true
    defer { isServing = false }
    while let reader {
      if ending == .finished, body.isDrained { return finish() }
      guard demand > .none else { return }
      switch body.next() {
      case .chunk(let chunk):
        demand -= 1
        demand += reader.value(chunk)
      case .failed(let kind, let cause): return fail(HTTPError(kind, host: request.url.hostAndPort, cause: cause))
      case .nothing: guard ending == .finished || resume() else { return }
      }
    }
  }

  private func finish() {
    if let (kind, cause) = body.problemAtEnd {
      return fail(HTTPError(kind, host: request.url.hostAndPort, cause: cause))
    }
    body.discard()
    reader.take()?.completion(.finished)
  }

  /// Has the connection read again.
  ///
  /// - Returns: true when more may be there.
  private func resume() -> Bool {
    guard body.isPaused, case .running(let transfer) = state else { return false }
    body.isPaused = false
    client.resume(transfer)
    guard transfer.reader.failure == nil else {
      deliver(.failure(transfer.error(of: self)))
      return false
    }
    return true
  }
}

/// The publisher of a body that is arriving. It has one subscriber.
private struct ArrivingBody: Publisher {
  typealias Output = Chunk
  typealias Failure = HTTPError

  /// Closes the transfer when nobody can subscribe any more.
  final class Lease {
    let exchange: StreamingExchange
    var isTaken = false

    init(_ exchange: StreamingExchange) { self.exchange = exchange }

    deinit { if !isTaken { exchange.abandon() } }
  }

  let lease: Lease

  func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == HTTPError {
    precondition(!lease.isTaken, "HTTP: a body arrives once; subscribe to it once, or share() it")
    lease.isTaken = true
    subscriber.receive(subscription: BodySubscription(lease.exchange))
    lease.exchange.attach(
      .init(value: { subscriber.receive($0) }, completion: { subscriber.receive(completion: $0) }))
  }
}

private final class BodySubscription: Subscription {
  private var exchange: StreamingExchange?

  init(_ exchange: StreamingExchange) { self.exchange = exchange }

  func request(_ demand: Subscribers.Demand) {
    precondition(
      demand > 0, "HTTP: request(.none) asks for nothing; request at least one chunk, or do not call request")
    exchange?.requestBody(demand)
  }

  func cancel() { exchange.take()?.cancelBody() }
}
