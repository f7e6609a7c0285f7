import FeedStream
import FeedStreamTesting
import FeedTLS

/// Both sides of a connection in virtual time, and their results.
final class Pair {
  let time: VirtualTimeScheduler
  var client: Connection?
  var server: Connection?
  var clientError: TLSError?
  var serverError: TLSError?
  /// The underlying connections.
  private(set) var below: (client: Connection?, server: Connection?)
  private var work: [AnyCancellable] = []

  init(_ time: VirtualTimeScheduler) { self.time = time }

  static let place = SocketAddress.internet("10.0.0.1", port: 443)

  /// Connects, performs the handshake on both sides, and runs until it is over.
  ///
  /// - Parameter server: `nil` to leave the server's side without TLS.
  func connect(_ client: TLSClient, _ server: TLSServer?, host: String = "localhost") throws {
    let listener = try Listener(at: Self.place, on: time)
    let accepting = listener.connections.sink { [unowned self] connection in
      below.server = connection
      guard let server else { return }
      connection.secured(by: server, on: time).sink { [unowned self] in
        if case .failure(let error) = $0 { serverError = error }
      } receiveValue: { [unowned self] in
        self.server = $0
      }
      .store(in: &work)
    }
    Connection.connect(to: Self.place, on: time).mapError { TLSError.system($0) }
      .handleEvents(receiveOutput: { [unowned self] in below.client = $0 })
      .flatMap { [time] in $0.secured(by: client, host: host, on: time) }
      .sink { [unowned self] in
        if case .failure(let error) = $0 { clientError = error }
      } receiveValue: { [unowned self] in
        self.client = $0
      }
      .store(in: &work)
    time.run()
    accepting.cancel()
    listener.close()
  }

  func close() {
    for subscription in work { subscription.cancel() }
    for connection in [client, server, below.client, below.server] { connection?.close() }
    (client, server, below) = (nil, nil, (nil, nil))
    time.run()
  }
}

/// Runs `body` with a pair in virtual time.
func withPair(_ body: (Pair) throws -> Void) throws {
  try withVirtualTime { time in
    let pair = Pair(time)
    defer { pair.close() }
    try body(pair)
  }
}
