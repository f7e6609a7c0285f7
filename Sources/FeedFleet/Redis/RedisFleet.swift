public import FeedPolling
public import FeedRedis
public import FeedStream
import Foundation
import ImageFeed

/// A fleet's work, updates and feeds in one database of a Redis or Valkey server.
///
/// Creating a fleet sends nothing to the server. The first call checks the database: one with another program's keys,
/// or with a different schema, is refused and never written to. Use it on its scheduler's thread.
public final class RedisFleet {
  /// The time that the log keeps updates for gateways that may have missed them: an hour.
  public static let logDuration = Duration.seconds(3600)
  static let prefix = "fs{0}:"

  public let client: RedisClient
  /// True to begin a fleet in an empty database.
  private let creates: Bool
  private var isOpen = false
  let logDuration: Duration
  /// The time when the server last reported that it keeps its keys.
  var looked: StreamInstant?
  /// A clock that can't be set.
  let uptime: @Sendable () -> Duration
  /// The last known fleet time, and when it was received.
  var told: (now: Date, at: Duration)?

  /// - Parameters:
  ///   - creates: true to begin a fleet in an empty database, for commands that add feeds.
  ///   - logDuration: the time for which the log keeps updates.
  ///   - uptime: a clock that can't be set, which reveals when the server's clock was set; the machine's clock by
  ///     default.
  public init(
    _ client: RedisClient, creates: Bool = false, keeping logDuration: Duration = RedisFleet.logDuration,
    uptime: @escaping @Sendable () -> Duration = { MachineTime.now }
  ) {
    self.client = client
    self.creates = creates
    self.logDuration = logDuration
    self.uptime = uptime
  }

  var place: String { "\(client.address)" }

  /// Checks that the database belongs to a fleet, and then runs a script.
  func run(_ script: RedisScript, _ arguments: [RedisArgument] = []) -> AnyPublisher<RedisValue, FleetError> {
    let run = Deferred { [self] in
      let sight: [RedisArgument] =
        told.map { [RedisArgument(Int($0.now.milliseconds)), .milliseconds(uptime() - $0.at)] } ?? ["", ""]
      return client.run(script, keys: [Self.prefix], arguments + sight)
    }
    .mapError { [self] in failure($0) }
    guard !isOpen else { return run.eraseToAnyPublisher() }
    return open().flatMap { _ in run }.eraseToAnyPublisher()
  }

  /// Checks that the database belongs to a fleet, and then runs a script that doesn't use the time once per list of
  /// arguments.
  func run(_ script: RedisScript, each lists: [[RedisArgument]]) -> AnyPublisher<[RedisValue], FleetError> {
    let results = client.run(script, keys: [Self.prefix], each: lists.map { $0 + ["", ""] })
      .mapError { [self] in failure($0) }
    guard !isOpen else { return results.eraseToAnyPublisher() }
    return open().flatMap { _ in results }.eraseToAnyPublisher()
  }

  /// Checks that the database belongs to a fleet, and then sends commands.
  ///
  /// - Parameter wrongType: the reply to a command whose key has an unexpected type, if that isn't a failure.
  func send(_ commands: [RedisCommand], wrongType: RedisValue? = nil) -> AnyPublisher<[RedisValue], FleetError> {
    let replies = client.send(commands, wrongType: wrongType).mapError { [self] in failure($0) }
    guard !isOpen else { return replies.eraseToAnyPublisher() }
    return open().flatMap { _ in replies }.eraseToAnyPublisher()
  }

  /// Checks that the database belongs to a fleet, and then sends a command.
  func send(_ command: RedisCommand) -> AnyPublisher<RedisValue, FleetError> {
    send([command]).map { $0[0] }.eraseToAnyPublisher()
  }

  /// Checks the database, and begins a fleet in it if it is empty and `creates` is true.
  public func open() -> AnyPublisher<Void, FleetError> {
    client.run(FleetScripts.look, keys: [Self.prefix])
      .mapError { [self] in failure($0) }
      .flatMap { [self] reply -> AnyPublisher<Void, FleetError> in
        let parts = reply.elements ?? []
        let number = Int(parts.last?.integer ?? 0)
        func fail(_ error: FleetError) -> AnyPublisher<Void, FleetError> { Fail(error: error).eraseToAnyPublisher() }
        switch parts.first?.text {
        case "open" where number == FleetScripts.schema:
          isOpen = true
          return Just(()).setFailureType(to: FleetError.self).eraseToAnyPublisher()
        case "open" where number > FleetScripts.schema: return fail(.newerSchema(place, number))
        case "open": return fail(.olderSchema(place, number))
        case "empty" where creates:
          // Checks again, because another client may have begun a fleet in the meantime; beginning twice has no effect.
          return client.run(FleetScripts.begin, keys: [Self.prefix])
            .mapError { [self] in failure($0) }
            .flatMap { [self] _ in open() }
            .eraseToAnyPublisher()
        case "empty": return fail(.noFeeds(place))
        case "foreign": return fail(.foreign(place, keys: number))
        // The server doesn't support scripts, or isn't a Redis server.
        default: return fail(.redis(.unreadable(client.address, .malformed)))
        }
      }
      .eraseToAnyPublisher()
  }

  func failure(_ error: RedisError) -> FleetError {
    // The database was emptied or replaced after it was checked.
    if let refusal = error.refusal, refusal.code == "NOFLEET" || refusal.message.contains("NOFLEET") {
      isOpen = false
      return .noFeeds(place)
    }
    return .redis(error)
  }

  func key(_ name: String) -> String { Self.prefix + name }
}

extension FleetError {
  package static func redis(_ error: RedisError) -> FleetError { .engine(error, isTemporary: error.isTemporary) }
}

extension Publisher where Output == RedisValue, Failure == FleetError {
  /// Reads a reply. An unexpected reply is a failure, so that only an empty store ever counts as empty.
  ///
  /// - Parameter read: returns `nil` for an invalid reply.
  func reading<Value>(in fleet: RedisFleet, _ read: @escaping (RedisValue) -> Value?) -> AnyPublisher<Value, FleetError>
  {
    tryMap { reply in
      guard let value = read(reply) else { throw FleetError.redis(.unreadable(fleet.client.address, .malformed)) }
      return value
    }
    .mapError { $0 as! FleetError }
    .eraseToAnyPublisher()
  }
}

extension RedisArgument {
  static func milliseconds(_ duration: Duration) -> RedisArgument { RedisArgument(Int(duration / .milliseconds(1))) }
}

extension RedisValue {
  /// The date of a number of milliseconds since 1970.
  var date: Date? {
    guard let number = integer, number < FleetScripts.never else { return nil }
    return Date(milliseconds: number)
  }

  var version: FeedVersion? { integer.map { FeedVersion(microseconds: $0) } }
}
