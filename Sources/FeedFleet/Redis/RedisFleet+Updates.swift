public import FeedPolling
import FeedRedis
public import FeedStream
import Foundation

extension RedisFleet: UpdateLog {
  public func append(_ update: FeedUpdate) -> AnyPublisher<UpdateCursor, FleetError> {
    run(
      FleetScripts.append,
      [
        RedisArgument(update.address.absoluteString), RedisArgument("\(update.version)"),
        RedisArgument(update.trace ?? ""), .milliseconds(logDuration),
      ]
    )
    .reading(in: self) { $0.text.map { UpdateCursor($0) } }
  }

  public func end() -> AnyPublisher<UpdateCursor, FleetError> {
    run(FleetScripts.end).reading(in: self) { $0.text.map { UpdateCursor($0) } }
  }

  public func latest(_ count: Int) -> AnyPublisher<[LoggedUpdate], FleetError> {
    send(RedisCommand("XREVRANGE", RedisArgument(key("updates")), "+", "-", "COUNT", RedisArgument(count)))
      .reading(in: self) { reply in
        reply.elements.map { $0.reversed().compactMap { RedisEntry($0).flatMap { Self.update($0) } } }
      }
  }

  private static func update(_ entry: RedisEntry) -> LoggedUpdate? {
    guard let address = entry["a"]?.text.flatMap({ URL(string: $0) }), let version = entry["v"]?.version else {
      return nil
    }
    return LoggedUpdate(
      cursor: UpdateCursor(entry.id),
      update: FeedUpdate(address: address, version: version, trace: entry["t"]?.text),
      previous: entry["b"]?.text.map { UpdateCursor($0) })
  }

  public func holds(_ cursor: UpdateCursor) -> AnyPublisher<Bool, FleetError> {
    run(FleetScripts.holds, [RedisArgument(cursor.description)]).reading(in: self) { $0.integer.map { $0 == 1 } }
  }

  public func updates(after cursor: UpdateCursor) -> AnyPublisher<LoggedUpdate, FleetError> {
    Deferred { [self] in
      // An entry that another program has written is skipped: the one after it then follows the last update.
      var (read, last) = (cursor, cursor)
      return client.entries(of: key("updates"), after: cursor.description)
        .mapError { [self] in failure($0) }
        .compactMap { entry -> LoggedUpdate? in
          let before = read
          read = UpdateCursor(entry.id)
          guard var update = Self.update(entry) else { return nil }
          if update.previous == before { update.previous = last }
          last = read
          return update
        }
    }
    .eraseToAnyPublisher()
  }
}
