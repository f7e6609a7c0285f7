extension SocketAddress {
  /// A publisher that, for each subscriber, looks up the addresses of a host, delivers them in the system's order of
  /// preference, and finishes.
  ///
  /// The system's lookup runs on the thread pool and can't be stopped once it has started: a late result is dropped.
  ///
  /// **Demand:** begins on subscription; the result is held until it is requested. **Failure:** the system's
  /// error: `EAI_NONAME` when there is no such host, `ETIMEDOUT` after `limit`. **Cancellation:** drops the result.
  /// **Policy:** holds one result.
  ///
  /// - Parameters:
  ///   - host: a name or a numeric address.
  ///   - port: the port of the delivered addresses, 0 to 65,535.
  ///   - limit: the time limit; five seconds by default.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public static func lookUp(
    _ host: String, port: Int, within limit: StreamInstant.Stride = .seconds(5), on scheduler: any LoopScheduler
  ) -> AnyPublisher<[SocketAddress], SystemError> {
    Deferred { [world = scheduler.world("SocketAddress.lookUp")] in
      var attempt: LookUp?
      return Future<[SocketAddress], SystemError> { promise in
        attempt = LookUp(host, port, within: limit, in: world) { promise($0) }
      }
      .handleEvents(receiveCancel: { attempt?.cancel() })
    }
    .eraseToAnyPublisher()
  }
}

/// A lookup and its deadline.
final class LookUp: Cancellable {
  private var done: ((Result<[SocketAddress], SystemError>) -> Void)?
  private var work: [any Cancellable] = []

  /// - Parameter done: called once, asynchronously, unless the lookup is cancelled first.
  init(
    _ host: String, _ port: Int, within limit: StreamInstant.Stride, in world: any IOHost,
    _ done: @escaping (Result<[SocketAddress], SystemError>) -> Void
  ) {
    self.done = done
    guard (0...65_535).contains(port), !host.isEmpty, !host.utf8.contains(0) else {
      let error = SystemError("look up", "\(host), port \(port)", code: Errno.invalid)
      work = [world.once(after: .zero) { [weak self] in self?.finish(.failure(error)) }]
      return
    }
    work = [
      world.once(after: limit) { [weak self] in
        self?.finish(.failure(SystemError("look up", host, code: Errno.timedOut)))
      },
      world.lookUp(host, port: port) { [weak self] in self?.finish($0) },
    ]
  }

  private func finish(_ result: Result<[SocketAddress], SystemError>) {
    let done = done.take()
    cancel()
    done?(result)
  }

  func cancel() {
    done = nil
    for work in work.take() { work.cancel() }
  }
}

/// A host and a port, in the usual notation: `example.org:443`, `127.0.0.1:80`, `[::1]:80`.
struct HostAndPort {
  let host: String
  let port: Int

  init(_ text: String) throws(SystemError) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), port >= 0,
      port <= 65_535
    else { throw SystemError("connect to", "\(text), which has no port from 0 to 65535", code: Errno.invalid) }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { throw SystemError("connect to", "\(text), which has no host", code: Errno.invalid) }
    self.host = String(host)
    self.port = port
  }
}
