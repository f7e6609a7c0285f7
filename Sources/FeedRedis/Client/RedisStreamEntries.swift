public import FeedStream

/// One entry of a stream (`XADD`).
public struct RedisEntry: Hashable, Sendable {
  /// `1700000000000-0`: the server's milliseconds and a number.
  public let id: String
  /// Names and values by turns.
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
  /// The entries of a stream after an id, and those that come: never finishes.
  ///
  /// Reads with `XREAD BLOCK` on a connection of its own, which a waiting read would keep from others.
  ///
  /// **Demand:** the server is asked when an entry is wanted and none is held; a slow reader costs it nothing. **Failure:** ``RedisError``; who subscribes again where this stopped makes sure that the stream still
  /// has that place. **Cancellation:** closes the connection. **Policy:** holds `count` entries.
  ///
  /// - Parameters:
  ///   - id: the last one that the reader has; `0-0` for all.
  ///   - wait: how long the server holds one question when there is nothing: five seconds by default.
  public func entries(
    of stream: String, after id: String, count: Int = 512, wait: Duration = .seconds(5)
  ) -> AnyPublisher<RedisEntry, RedisError> {
    Entries(client: self, stream: stream, last: id, count: count, wait: wait).eraseToAnyPublisher()
  }
}

private struct Entries: Publisher {
  typealias Output = RedisEntry
  typealias Failure = RedisError

  let client: RedisClient
  let stream: String
  let last: String
  let count: Int
  let wait: Duration

  func receive<S: Subscriber>(subscriber: S) where S.Input == RedisEntry, S.Failure == RedisError {
    var options = client.options
    options.patience += wait
    options.name += options.name.isEmpty ? "" : "-reader"
    let own = RedisClient(client.address, on: client.scheduler, options: options)
    let reader = EntryReader(self, own) {
      subscriber.receive($0)
    } fail: {
      subscriber.receive(completion: .failure($0))
    }
    subscriber.receive(subscription: reader)
  }
}

/// A cursor in a stream, and the connection that reads there.
private final class EntryReader: Subscription {
  private let client: RedisClient
  private let stream: String
  private let count: RedisArgument
  private let wait: RedisArgument
  private var last: String
  private var held: ArraySlice<RedisEntry> = []
  private var demand = Subscribers.Demand.none
  private var isAsking = false
  private var isDelivering = false
  private var deliver: ((RedisEntry) -> Subscribers.Demand)?
  private var fail: ((RedisError) -> Void)?

  init(
    _ entries: Entries, _ client: RedisClient, _ deliver: @escaping (RedisEntry) -> Subscribers.Demand,
    fail: @escaping (RedisError) -> Void
  ) {
    self.client = client
    (stream, last) = (entries.stream, entries.last)
    (count, wait) = (RedisArgument(entries.count), RedisArgument(Int(entries.wait / .milliseconds(1))))
    self.deliver = deliver
    self.fail = fail
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "entries(of:): request(.none) asks for nothing; request one or more")
    self.demand += demand
    goOn()
  }

  func cancel() {
    (deliver, fail, held) = (nil, nil, [])
    client.close()
  }

  private func goOn() {
    guard !isDelivering else { return }
    isDelivering = true
    while demand > .none, let deliver, let entry = held.popFirst() {
      demand -= 1
      demand += deliver(entry)
    }
    isDelivering = false
    if demand > .none, deliver != nil, held.isEmpty { ask() }
  }

  private func ask() {
    guard !isAsking else { return }
    isAsking = true
    let command = RedisCommand(
      "XREAD", "COUNT", count, "BLOCK", wait, "STREAMS", RedisArgument(stream), RedisArgument(last))
    client.perform(command) { [self] result in
      isAsking = false
      switch result {
      case .success(let reply):
        // A map in version 3, an array of pairs in version 2; nothing when nothing came in time.
        let entries = (reply[stream] ?? reply.elements?.first?.elements?.last)?.elements ?? []
        held = entries.compactMap { RedisEntry($0) }[...]
        if let id = held.last?.id { last = id }
        goOn()
      case .failure(let error):
        let fail = self.fail
        cancel()
        fail?(error)
      }
    }
  }
}
