import CLibrary
import FeedStream
import FeedTLS

/// One attempt to connect and to log in: `HELLO 3`, or `AUTH` if the server doesn't support `HELLO`, and then `SELECT`.
/// If the address names Sentinels, they are queried first.
final class RedisLogin: Cancellable {
  private var address: RedisAddress
  private let options: RedisClient.Options
  private let scheduler: any LoopScheduler
  private var done: ((Result<RedisLink, RedisError>) -> Void)?
  private var attempt: AnyCancellable?
  private var link: RedisLink?
  private var lookup: SentinelLookup?
  /// The time when the TLS handshake began.
  private var isShakingHands = false
  private var isClusterNode = false
  private var deadline: (any Cancellable)?

  /// - Parameter done: called once, after the initializer returns, unless the attempt is cancelled first.
  init(
    to address: RedisAddress, _ options: RedisClient.Options, on scheduler: any LoopScheduler,
    _ done: @escaping (Result<RedisLink, RedisError>) -> Void
  ) {
    self.address = address
    self.options = options
    self.scheduler = scheduler
    self.done = done
  }

  func begin() {
    deadline = scheduler.once(after: options.patience) { [weak self] in self?.timedOut() }
    guard case .sentinel(let hosts, let name) = address.place else { return connect() }
    lookup = SentinelLookup(hosts, name, for: address, options, on: scheduler) { [weak self] result in
      guard let self else { return }
      lookup = nil
      switch result {
      case .failure(let error): finish(.failure(error))
      case .success(let place):
        address.place = place
        connect()
      }
    }
    lookup?.begin()
  }

  private func connect() {
    attempt = connection.sink { [weak self] completion in
      guard let self, case .failure(let error) = completion else { return }
      finish(.failure(RedisError(address, error)))
    } receiveValue: { [weak self] connection in
      self?.logIn(connection)
    }
  }

  func cancel() {
    done = nil
    deadline.take()?.cancel()
    lookup.take()?.cancel()
    attempt.take()?.cancel()
    link.take()?.end(.clientClosed)
  }

  private func timedOut() {
    guard link == nil, lookup == nil, case .internet(let host, _) = address.place else {
      return finish(.failure(.timedOut(address, after: options.patience)))
    }
    if isShakingHands {
      return finish(.failure(.notSecure(address, .timedOut(StreamInstant.Stride(options.patience)))))
    }
    finish(.failure(.unreachable(address, SystemError("connect to", host, code: ETIMEDOUT))))
  }

  private var connection: AnyPublisher<Connection, TLSError> {
    let limit = StreamInstant.Stride(min(options.patience, .seconds(5)))
    switch address.place {
    case .sentinel: preconditionFailure("RedisLogin: find the primary through the Sentinels first")
    case .unix(let path):
      return Connection.connect(to: .unix(path), on: scheduler).mapError { .system($0) }.eraseToAnyPublisher()
    case .internet(let host, let port):
      let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
      let plain = Connection.connect(to: place, connectLimit: limit, on: scheduler)
        .mapError { TLSError.system($0) }
      guard address.usesTLS else { return plain.eraseToAnyPublisher() }
      do throws(TLSError) {
        let client = if let given = options.tls { given } else { try RedisClient.systemTLS.get() }
        return plain.flatMap { [weak self, scheduler] connection -> AnyPublisher<Connection, TLSError> in
          self?.isShakingHands = true
          return connection.secured(by: client, host: host, within: limit, on: scheduler)
        }
        .eraseToAnyPublisher()
      } catch {
        return Just(()).delay(for: .zero, scheduler: scheduler).setFailureType(to: TLSError.self)
          .flatMap { Fail<Connection, TLSError>(error: error) }.eraseToAnyPublisher()
      }
    }
  }

  private func logIn(_ connection: Connection) {
    let link = RedisLink(
      connection, to: address, patience: options.patience, limits: options.limits, on: scheduler)
    self.link = link
    link.onEnd = { [weak self] error in self?.finish(.failure(error)) }
    link.start()
    guard !options.usesVersion2 else { return authenticate() }
    var words: [RedisArgument] = ["3"]
    if let password = address.password {
      words += ["AUTH", RedisArgument(address.user ?? "default"), RedisArgument(password)]
    }
    if !options.name.isEmpty { words += ["SETNAME", RedisArgument(options.name)] }
    link.send(RedisCommand("HELLO", words)) { [weak self] result in self?.greeted(result) }
  }

  private func greeted(_ result: Result<RedisValue, RedisError>) {
    switch result {
    case .success(let server):
      isClusterNode = server["mode"]?.text == "cluster"
      select()
    // Servers before version 6 have no `HELLO`.
    case .failure(.refused(_, let refusal))
    where refusal.code == "NOPROTO" || refusal.message.contains("unknown command"):
      authenticate()
    case .failure(let error): finish(.failure(error))
    }
  }

  private func authenticate() {
    guard let password = address.password else { return select() }
    let user = address.user.map { [RedisArgument($0)] } ?? []
    link?.send(RedisCommand("AUTH", user + [RedisArgument(password)])) { [weak self] in self?.next($0) { $0.select() } }
  }

  private func select() {
    guard address.database != 0 else { return check() }
    link?.send(RedisCommand("SELECT", RedisArgument(address.database))) { [weak self] in self?.next($0) { $0.check() } }
  }

  /// Sends a first command, which fails if a required password is missing.
  private func check() {
    link?.send(RedisCommand("PING")) { [weak self] result in
      self?.next(result) { login in
        guard let link = login.link.take() else { return }
        link.onEnd = nil
        link.isClusterNode = login.isClusterNode
        login.finish(.success(link))
      }
    }
  }

  private func next(_ result: Result<RedisValue, RedisError>, _ step: (RedisLogin) -> Void) {
    switch result {
    case .success: step(self)
    case .failure(let error): finish(.failure(error))
    }
  }

  private func finish(_ result: Result<RedisLink, RedisError>) {
    guard let done = done.take() else { return }
    deadline.take()?.cancel()
    lookup.take()?.cancel()
    if let link = link.take() {
      link.onEnd = nil
      if case .failure(let error) = result { link.end(error) }
    }
    attempt = nil
    done(result)
  }
}
