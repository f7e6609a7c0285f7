import ArgumentParser
import FeedFleet
import FeedRedis
import FeedStream
import Foundation
import ImageFeed

/// The engine that machines share.
struct StoreArgument {
  let address: RedisAddress

  init(parsing text: String) throws {
    guard RedisAddress.isAddress(text) else {
      throw ValidationError(
        "A fleet's store is a server, such as redis://host:6379 or unix:///path/of/the/socket; a file needs no worker: feed "
          + "watch polls what is in it.")
    }
    do throws(RedisAddressError) {
      var address = try RedisAddress(parsing: text)
      // Others see arguments in the list of processes, and not the environment.
      if address.password == nil, let password = ProcessInfo.processInfo.environment["FEED_STORE_PASSWORD"] {
        address.password = password.isEmpty ? nil : password
      }
      self.address = address
    } catch {
      throw ValidationError("\(error)")
    }
  }
}

/// The option of every command of a fleet.
struct FleetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The Redis or Valkey server that the machines share: redis://[user:password@]host[:port][/database], or "
        + "unix:///path/of/the/socket.", valueName: "address"),
    transform: StoreArgument.init(parsing:))
  var store: StoreArgument

  @Flag(name: .shortAndLong, help: "Report each step on standard error.")
  var verbose = false
}

extension Session {
  /// The fleet at an address, until the session ends.
  ///
  /// - Parameter creates: begins a fleet in an empty database.
  func fleet(at store: StoreArgument, creates: Bool = false) -> RedisFleet {
    let client = RedisClient(store.address, on: loop)
    // Not with the other helpers: a worker says good-bye.
    atEnd { client.close() }
    return RedisFleet(client, creates: creates)
  }

  /// Ends the session with a sentence when a store cannot be used at all: only one that is away is waited for.
  func endIfUnusable(_ fleet: RedisFleet) {
    keep(
      fleet.open().sink { [unowned self] completion in
        guard case .failure(let error) = completion, !error.isTemporary else { return }
        fail("\(error)")
        leave()
      } receiveValue: { _ in
      })
  }

  /// Prints what a fleet says, once.
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
