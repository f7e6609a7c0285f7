public import FeedStream

/// A Lua script that a server runs atomically.
///
/// On each connection, the server receives the text with each run until it has replied to the first one, and only the
/// digest after that.
public struct RedisScript: Hashable, Sendable {
  /// The script's name in diagnostics.
  public let name: String
  public let text: String
  /// The text that the server receives. As `String`s, different texts may be equal.
  let bytes: Chunk

  public init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
    bytes = Chunk(text)
  }
}

extension RedisClient {
  /// Runs a script when subscribed to, delivers its result and finishes.
  ///
  /// The script's text is sent again if the server has forgotten it (`NOSCRIPT`).
  ///
  /// **Demand, cancellation:** as for `send(_:)`. **Failure:** ``RedisError``.
  public func run(
    _ script: RedisScript, keys: [String], _ arguments: [RedisArgument] = []
  ) -> AnyPublisher<RedisValue, RedisError> {
    Replying { reply in self.perform(script, keys: keys, arguments, reply) }.eraseToAnyPublisher()
  }

  /// Runs a script once per list of arguments, and delivers the results.
  ///
  /// The other runs wait for the first one, so that the script's text isn't sent for each of them.
  package func run(
    _ script: RedisScript, keys: [String], each lists: [[RedisArgument]]
  ) -> AnyPublisher<[RedisValue], RedisError> {
    Replying { reply in
      guard let first = lists.first else { return reply(.success(.array([]))) }
      let batch = ReplyBatch(lists.count, wrongType: nil) { reply($0.map { .array($0) }) }
      self.perform(script, keys: keys, first) { result in
        guard case .success = result else { return reply(result) }
        batch.take(result, at: 0)
        for (index, arguments) in lists.enumerated().dropFirst() {
          self.perform(script, keys: keys, arguments) { batch.take($0, at: index) }
        }
      }
    }
    .map { $0.elements ?? [] }.eraseToAnyPublisher()
  }

  package func perform(
    _ script: RedisScript, keys: [String], _ arguments: [RedisArgument],
    _ reply: @escaping (Result<RedisValue, RedisError>) -> Void
  ) {
    perform(script, [RedisArgument(keys.count)] + keys.map { RedisArgument($0) } + arguments, loads: 2, reply)
  }

  /// - Parameter loads: the number of times that the text may still be sent: two at first, because a cluster node may
  ///   redirect the command to another node.
  private func perform(
    _ script: RedisScript, _ tail: [RedisArgument], loads: Int, _ reply: @escaping RedisLink.Reply
  ) {
    guard let digest = digests[script.bytes] else { return load(script, tail, loads: loads, reply) }
    perform(RedisCommand("EVALSHA", [RedisArgument(digest)] + tail)) { [weak self] result in
      if let self, case .failure(let error) = result, error.refusal?.kind == .unknownScript, loads > 0 {
        digests[script.bytes] = nil
        return load(script, tail, loads: loads, reply)
      }
      reply(result)
    }
  }

  private func load(_ script: RedisScript, _ tail: [RedisArgument], loads: Int, _ reply: @escaping RedisLink.Reply) {
    perform(RedisCommand("SCRIPT", "LOAD", RedisArgument(script.bytes))) { [weak self] result in
      guard let self else { return reply(.failure(.clientClosed)) }
      switch result {
      case .failure(let error): reply(.failure(error))
      case .success(let digest):
        guard let digest = digest.text else { return reply(.failure(.unreadable(address, .malformed))) }
        digests[script.bytes] = digest
        perform(script, tail, loads: loads - 1, reply)
      }
    }
  }
}
