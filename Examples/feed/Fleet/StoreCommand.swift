import ArgumentParser
import FeedFleet
import FeedFormats
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed store`: migrates a file to a fleet.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Migrate a local cache to a fleet.", subcommands: [StoreCopy.self])
}

/// `feed store copy`: copies feeds, their due times and the list of subscriptions from a file to a fleet.
struct StoreCopy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy your subscriptions, and the feeds and due times from a cache file, to a fleet.",
    discussion: """
      Keeps due times, and pauses that hosts requested, so moving to a fleet triggers no extra requests. The file \
      isn't changed. Feeds that are newer in the fleet aren't overwritten, so you can repeat the command.
      """)

  @Argument(help: ArgumentHelp("The cache file, such as feeds.db.", valueName: "file"), completion: .file())
  var file: String

  @Argument(
    help: ArgumentHelp("The fleet's server, such as redis://host.", valueName: "url"),
    transform: StoreArgument.init(parsing:))
  var store: StoreArgument

  func run() throws {
    guard FileManager.default.fileExists(atPath: file) else {
      throw ValidationError("There is no file \(file.printable).")
    }
    try CommonOptions.check(file)
    let session = Session()
    let source = SQLiteFeedStore(cacheAt: file, on: session)
    let fleet = session.fleet(at: store, creates: true)
    let listed = try SubscriptionPlace.file().read()?.subscriptions.map(\.address) ?? []
    let worker = SerialWorker(on: session.loop)
    var (copied, added, total) = (0, 0, 0)
    let now = Date()
    var paused: Set<String> = []
    let addresses = worker.publisher { () throws(FeedStoreError) -> [URL] in
      var seen: Set<URL> = []
      return (try source.summaries().map(\.address) + listed).filter { seen.insert($0).inserted }
    }
    .mapError { FleetError.store($0) }
    let copies =
      addresses
      .flatMap { $0.publisher.setFailureType(to: FleetError.self) }
      .concatMap { address in
        worker.publisher { () throws(FeedStoreError) in try Self.read(address, in: source) }
          .mapError { FleetError.store($0) }
          .flatMap { feed, pause -> AnyPublisher<(Int, Bool), FleetError> in
            let host = feed.record.health.requestAddress.pollingHost
            let rest = pause.flatMap { paused.insert(host).inserted ? $0.until.timeIntervalSince(now) : nil } ?? 0
            let pausing =
              rest > 0
              ? fleet.pause(host, for: .seconds(min(rest, Self.longestPause)), because: pause?.reason ?? "")
              : Just(()).setFailureType(to: FleetError.self).eraseToAnyPublisher()
            let due = feed.record.health.due ?? now
            let delay = Duration.seconds(max(0, due.timeIntervalSince(now)))
            // Don't poll a feed that is gone.
            let added =
              feed.record.health.isGone
              ? Just(0).setFailureType(to: FleetError.self).eraseToAnyPublisher()
              : fleet.add([NewFeed(address, after: delay)])
            let saved =
              feed.version == nil && feed.record.health.asked == nil
              ? Just(false).setFailureType(to: FleetError.self).eraseToAnyPublisher() : fleet.put(feed)
            // A worker may request the feed as soon as it is added, so that is last.
            return pausing.flatMap { _ in saved }
              .flatMap { isSaved in added.map { ($0, isSaved) } }
              .eraseToAnyPublisher()
          }
      }
      .handleEvents(receiveOutput: { [console = session.console] in
        (total, added, copied) = (total + 1, added + $0.0, copied + ($0.1 ? 1 : 0))
        console.setStatus("\(counted(total, "feed")) read")
      })
      .compactMap { _ -> String? in nil }
    session.run(copies) {
      $0
    } ended: { completion in
      if case .failure(let error) = completion {
        session.fail("\(error)")
        return session.leave()
      }
      let text =
        "Copied \(copied) of \(counted(total, "feed")); added \(added) to the fleet's list\n"
      session.print(Array(text.utf8)) { session.leave() }
    }
    try session.finish(closing: source)
  }

  /// The longest pause to copy, in seconds: a day. Only a wrong clock can cause a longer one.
  private static let longestPause = 86_400.0

  /// A feed, and the pause of the host to request for it.
  private static func read(
    _ address: URL, in store: SQLiteFeedStore
  ) throws(FeedStoreError) -> (FleetFeed, HostPause?) {
    let feed = try feed(address, in: store)
    let host = try store.health(ofHost: feed.record.health.requestAddress.pollingHost)
    return (feed, host?.pausedUntil.map { HostPause(until: $0, because: host?.reason ?? "") })
  }

  private static func feed(_ address: URL, in store: SQLiteFeedStore) throws(FeedStoreError) -> FleetFeed {
    var record = FeedRecord(health: try store.health(of: [address])[0] ?? FeedHealth(address: address))
    for decision in try store.decisions(for: address) { record.note(decision) }
    guard let saved = try store.retrieve(for: address) else {
      return FleetFeed(address: address, record: record, version: nil, document: nil)
    }
    let bytes = saved.images.bytes
    // A worker finds out why the feed can't be saved.
    guard bytes.count <= FleetRules.documentBytes else {
      return FleetFeed(address: address, record: record, version: nil, document: nil)
    }
    (record.validators, record.imageCount) = (saved.validators, saved.images.count)
    record.digest = FeedImages.digest(in: bytes)
    record.isFromPrivateNetwork = saved.images.isFromPrivateNetwork
    return FleetFeed(address: address, record: record, version: FeedVersion(saved.timestamp), document: Chunk(bytes))
  }
}
