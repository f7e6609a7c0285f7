extension Connection {
  /// A publisher that, for each subscriber, looks up a host, connects to it, delivers the connection, and finishes.
  ///
  ///     Connection.connect(to: "example.org:80", on: loop)
  ///       .sink { print($0) } receiveValue: { print($0.peer) }
  ///
  /// The host's addresses are tried in the system's order of preference, alternating between IPv6 and IPv4. The next
  /// attempt begins when one fails or after `attemptDelay`, while earlier ones continue. The first connection wins, and
  /// the other attempts are abandoned. The procedure follows RFC 8305, except that the system looks up both families
  /// together.
  ///
  /// **Demand:** begins on subscription; the connection is held until it is requested. **Failure:** the system's
  /// error, from the last attempt if all fail; `ETIMEDOUT` if the lookup or the attempts take too long.
  /// **Cancellation:** abandons all attempts, and closes a connection that was not delivered. **Policy:** holds one
  /// connection.
  ///
  /// - Parameters:
  ///   - host: `name:port`, with a name or a numeric address; put an IPv6 address in brackets.
  ///   - lookUpLimit: the time limit for the lookup; five seconds by default.
  ///   - connectLimit: the time limit for all attempts together; ten seconds by default.
  ///   - attemptDelay: the time until the next attempt starts; 250 ms by default, as in RFC 8305, section 8.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public static func connect(
    to host: String, lookUpLimit: StreamInstant.Stride = .seconds(5), connectLimit: StreamInstant.Stride = .seconds(10),
    attemptDelay: StreamInstant.Stride = .milliseconds(250), on scheduler: any LoopScheduler
  ) -> AnyPublisher<Connection, SystemError> {
    Deferred { [world = scheduler.world("Connection")] () -> AnyPublisher<Connection, SystemError> in
      let place: HostAndPort
      do throws(SystemError) {
        place = try HostAndPort(host)
      } catch {
        return Fail(error: error).eraseToAnyPublisher()
      }
      var race: ConnectRace?
      return Future<Connection, SystemError> { promise in
        race = ConnectRace(in: world, connectLimit, attemptDelay) { result in
          promise(result.map { Connection($0, to: $0.peer) })
        }
        race?.start(host, place, lookUpLimit)
      }
      .handleEvents(receiveCancel: { race?.cancel() })
      .eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }
}

/// Attempts to connect to several addresses, until one succeeds.
private final class ConnectRace: Cancellable {
  private let world: any IOHost
  private let limit: StreamInstant.Stride
  private let delay: StreamInstant.Stride
  private var done: ((Result<any ByteChannel, SystemError>) -> Void)?
  private var host = ""
  private var addresses: [SocketAddress] = []
  private var begun = 0
  private var running: [Int: any Cancellable] = [:]
  private var lookUp: LookUp?
  private var deadline: (any Cancellable)?
  private var pause: (any Cancellable)?

  init(
    in world: any IOHost, _ limit: StreamInstant.Stride, _ delay: StreamInstant.Stride,
    _ done: @escaping (Result<any ByteChannel, SystemError>) -> Void
  ) {
    self.world = world
    self.limit = limit
    self.delay = delay
    self.done = done
  }

  func start(_ host: String, _ place: HostAndPort, _ lookUpLimit: StreamInstant.Stride) {
    self.host = host
    lookUp = LookUp(place.host, place.port, within: lookUpLimit, in: world) { [self] result in
      lookUp = nil
      switch result {
      case .failure(let error): finish(.failure(error))
      case .success(let found): begin(found)
      }
    }
  }

  private func begin(_ found: [SocketAddress]) {
    guard let first = found.first else {
      return finish(.failure(SystemError("look up", host, code: Errno.missing)))
    }
    var (preferred, others) = (
      found.filter { $0.isSix == first.isSix }[...], found.filter { $0.isSix != first.isSix }[...]
    )
    while !preferred.isEmpty || !others.isEmpty {
      if let address = preferred.popFirst() { addresses.append(address) }
      if let address = others.popFirst() { addresses.append(address) }
    }
    deadline = world.once(after: limit) { [weak self] in
      guard let self else { return }
      finish(.failure(SystemError("connect to", subject, code: Errno.timedOut)))
    }
    tryNext()
  }

  /// The subject of an error: the host, and the addresses that were tried.
  private var subject: String {
    let tried = addresses.prefix(begun).map(\.description)
    return tried == [host] ? host : "\(host) (\(tried.joined(separator: ", ")))"
  }

  private func tryNext() {
    pause.take()?.cancel()
    guard begun < addresses.count else { return }
    let index = begun
    begun += 1
    if begun < addresses.count { pause = world.once(after: delay) { [weak self] in self?.tryNext() } }
    running[index] = world.connect(to: addresses[index]) { [weak self] in self?.attempt(index, $0) }
  }

  private func attempt(_ index: Int, _ result: Result<any ByteChannel, SystemError>) {
    running[index] = nil
    switch result {
    case .success: finish(result)
    case .failure(let error):
      if begun < addresses.count {
        tryNext()
      } else if running.isEmpty {
        finish(.failure(SystemError("connect to", subject, code: error.code)))
      }
    }
  }

  private func finish(_ result: Result<any ByteChannel, SystemError>) {
    let done = done.take()
    cancel()
    done?(result)
  }

  func cancel() {
    done = nil
    for work in [lookUp.take(), deadline.take(), pause.take()] as [(any Cancellable)?] { work?.cancel() }
    for attempt in running.take().values { attempt.cancel() }
  }
}

extension SocketAddress {
  fileprivate var isSix: Bool { if case .internet(let host, _) = kind { host.contains(":") } else { false } }
}
