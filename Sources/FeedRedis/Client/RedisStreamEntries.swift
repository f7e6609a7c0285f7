public import FeedStream

/// One entry in a stream (`XADD`).
public struct RedisEntry: Hashable, Sendable {
  /// The id, such as `1700000000000-0`: the server's time in milliseconds, and a number.
  public let id: String
  /// Names and values, alternating.
  public let fields: [RedisValue]

  public init(id: String, fields: [RedisValue]) {
    self.id = id
    self.fields = fields
  }

  /// - Returns: `nil` for anything that isn't an entry.
  public init?(_ value: RedisValue) {
    guard let parts = value.elements, parts.count == 2, let id = parts[0].text, let fields = parts[1].elements else {
      return nil
    }
    self.init(id: id, fields: fields)
  }

  public subscript(name: String) -> RedisValue? { RedisValue.array(fields)[name] }
}

extension RedisClient {
  /// The entries in a stream after an id, including future entries; never finishes.
  ///
  /// The publisher reads with `XREAD BLOCK` on its own connection, because a waiting read would block other commands.
  ///
  /// **Demand:** a read is sent when an entry is requested and none is held; a slow reader doesn't burden the server.
  /// **Failure:** ``RedisError``; before you resubscribe from the last id, check that the stream still contains that
  /// position. **Cancellation:** closes the connection. **Policy:** holds `count` entries.
  ///
  /// - Parameters:
  ///   - id: the id of the last entry that you have; `0-0` for all entries; `$` for those that are added after the
  ///     first one is requested.
  ///   - wait: the time for which the server blocks a read while there are no entries; five seconds by default, and at
  ///     least a millisecond.
  public func entries(
    of stream: String, after id: String, count: Int = 512, wait: Duration = .seconds(5)
  ) -> AnyPublisher<RedisEntry, RedisError> {
    precondition(
      id != "+",
      "RedisClient.entries(of:after:): after \"+\", each read would skip entries; use \"$\" or an entry's id")
    return Pulled("entries(of:)") { [self] in
      var options = self.options
      options.patience += wait
      options.name += options.name.isEmpty ? "" : "-reader"
      let own = RedisClient(address, on: scheduler, options: options)
      return EntryReader(own, stream, after: id, count: count, wait: wait)
    }
    .eraseToAnyPublisher()
  }
}

/// A cursor in a stream, and the connection that reads from it.
private final class EntryReader: PullSource {
  private let client: RedisClient
  private let stream: String
  private let count: RedisArgument
  private let wait: RedisArgument
  private var last: String
  private var isAsking = false

  init(_ client: RedisClient, _ stream: String, after id: String, count: Int, wait: Duration) {
    self.client = client
    (self.stream, last) = (stream, id)
    (self.count, self.wait) = (RedisArgument(count), RedisArgument(max(1, Int(wait / .milliseconds(1)))))
  }

  func cancelled(_: PullSubscription<RedisEntry, RedisError>) { client.close() }

  func wanted(by subscription: PullSubscription<RedisEntry, RedisError>) -> Bool {
    guard !isAsking else { return false }
    isAsking = true
    if last == "$" { findEnd(for: subscription) } else { read(for: subscription) }
    return false
  }

  /// Replaces `$` with the id of the last entry: otherwise, each read would skip the entries added before it.
  private func findEnd(for subscription: PullSubscription<RedisEntry, RedisError>) {
    let command = RedisCommand("XREVRANGE", RedisArgument(stream), "+", "-", "COUNT", 1)
    client.perform(command) { [self] result in
      switch result {
      case .success(let reply):
        last = reply.elements?.first.flatMap { RedisEntry($0) }?.id ?? "0-0"
        read(for: subscription)
      case .failure(let error): end(subscription, error)
      }
    }
  }

  private func read(for subscription: PullSubscription<RedisEntry, RedisError>) {
    let command = RedisCommand(
      "XREAD", "COUNT", count, "BLOCK", wait, "STREAMS", RedisArgument(stream), RedisArgument(last))
    client.perform(command) { [self] result in
      isAsking = false
      switch result {
      case .success(let reply):
        // A map in version 3, an array of pairs in version 2; empty if no entry arrived in time.
        let entries = (reply[stream] ?? reply.elements?.first?.elements?.last)?.elements ?? []
        for entry in entries.lazy.compactMap({ RedisEntry($0) }) {
          subscription.hold(entry)
          last = entry.id
        }
        subscription.serve()
      case .failure(let error): end(subscription, error)
      }
    }
  }

  private func end(_ subscription: PullSubscription<RedisEntry, RedisError>, _ error: RedisError) {
    client.close()
    subscription.end(.failure(error))
  }
}
