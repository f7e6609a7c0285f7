import ArgumentParser
import FeedFleet
import FeedRedis
import FeedStream
import Foundation
import ImageFeed

/// The server that the machines of a fleet share.
struct StoreArgument {
  let address: RedisAddress

  init(parsing text: String) throws {
    guard RedisAddress.isAddress(text) else {
      throw ValidationError(
        "A fleet's store is a server, such as redis://host:6379 or unix:///path/to/socket. To use a cache "
          + "file, pass it with --cache to \"feed watch\", \"feed serve\" or \"feed explain\".")
    }
    do throws(RedisAddressError) {
      var address = try RedisAddress(parsing: text)
      // Other users can see arguments in the list of processes, but not the environment.
      if address.password == nil, let password = ProcessInfo.processInfo.environment["FEED_STORE_PASSWORD"] {
        address.password = password.isEmpty ? nil : password
      }
      self.address = address
    } catch {
      throw ValidationError("\(error)")
    }
  }
}

/// The option that all fleet commands share.
struct FleetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The fleet's Redis or Valkey server: redis://[user:password@]host[:port][/database], rediss://… for TLS, "
        + "redis+sentinel://[user:password@]host[:port][,…]/name[/database], or unix:///path/to/socket. "
        + "If the URL has no password, the one in the environment variable FEED_STORE_PASSWORD is used.",
      valueName: "url"),
    transform: StoreArgument.init(parsing:))
  var store: StoreArgument

  @OptionGroup var log: LogOptions
}

extension Session {
  /// Connects to the fleet at a URL, until the session ends.
  ///
  /// - Parameter creates: true to begin a fleet in an empty database.
  func fleet(at store: StoreArgument, creates: Bool = false) -> RedisFleet {
    let client = RedisClient(store.address, on: loop)
    // Don't close it with the session's other resources, because a leaving worker still uses it.
    atEnd { client.close() }
    return RedisFleet(client, creates: creates)
  }

  /// Returns a function that reports the store's errors and its recovery, for a command that always needs the store.
  ///
  /// Until the store has worked once, the session waits only for an unreachable store; any other error ends the
  /// session. After that, the session waits after every error, because a changed password or permission may be changed
  /// back. Each error is reported once a minute.
  func storeReporter() -> (FleetError?) -> Void {
    var told: [String: StreamInstant] = [:]
    var hasBegun = false
    return { [unowned self] error in
      guard let error else {
        hasBegun = true
        if !told.isEmpty { console.report("The store is available again.") }
        told = [:]
        return
      }
      let text = "\(error)"
      guard hasBegun || error.isTemporary else {
        fail(text)
        return leave()
      }
      let now = loop.now
      if let before = told[text], before.distance(to: now) < .seconds(60) { return }
      told[text] = now
      console.warn(text)
    }
  }

  /// Prints one result from a fleet.
  func answer<Value: Sendable>(
    _ publisher: AnyPublisher<Value, FleetError>, text: @escaping @Sendable (Value) -> String
  ) throws {
    run(
      publisher.first(), text: text,
      ended: { [self] (completion: Subscribers.Completion<FleetError>) in
        if case .failure(let error) = completion { fail("\(error)") }
        leave()
      })
    try finish {}
  }
}
