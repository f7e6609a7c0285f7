import FeedStream

/// Queries Sentinels, one after another, for the address of a primary.
final class SentinelLookup: Cancellable {
  private var hosts: ArraySlice<RedisAddress.SentinelHost>
  private let name: String
  private let address: RedisAddress
  private var options = RedisClient.Options()
  private let scheduler: any LoopScheduler
  private var done: ((Result<RedisAddress.Place, RedisError>) -> Void)?
  private var client: RedisClient?

  /// - Parameter done: called once, after the initializer returns, unless the lookup is cancelled first.
  init(
    _ hosts: [RedisAddress.SentinelHost], _ name: String, for address: RedisAddress, _ options: RedisClient.Options,
    on scheduler: any LoopScheduler, _ done: @escaping (Result<RedisAddress.Place, RedisError>) -> Void
  ) {
    self.hosts = hosts[...]
    self.name = name
    self.address = address
    self.scheduler = scheduler
    self.done = done
    // An unreachable Sentinel must not delay the request to the next one for long, and all of them leave time to log in.
    self.options.patience = min(options.patience / (hosts.count + 1), .seconds(2))
    self.options.name = ""
  }

  func begin() { ask(after: nil) }

  func cancel() {
    done = nil
    client.take()?.close()
  }

  private func ask(after failure: RedisError?) {
    guard let host = hosts.popFirst() else {
      return finish(.failure(failure ?? .unreadable(address, .malformed)))
    }
    let place = RedisAddress(.internet(host: host.host, port: host.port))
    let client = RedisClient(place, on: scheduler, options: options)
    self.client = client
    client.perform(RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", RedisArgument(name))) { [weak self] result in
      guard let self, done != nil else { return }
      self.client.take()?.close()
      switch result {
      case .failure(let error): ask(after: error)
      case .success(let reply):
        guard let parts = reply.elements, parts.count == 2, let host = parts[0].text, let port = parts[1].integer,
          1...65_535 ~= port, !host.isEmpty
        else { return ask(after: failure ?? .noSuchPrimary(place, name)) }
        finish(.success(.internet(host: host, port: Int(port))))
      }
    }
  }

  private func finish(_ result: Result<RedisAddress.Place, RedisError>) { done.take()?(result) }
}
