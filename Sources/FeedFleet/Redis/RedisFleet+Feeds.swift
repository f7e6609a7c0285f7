public import FeedPolling
import FeedRedis
public import FeedStream
public import Foundation
import ImageFeed

extension RedisFleet: FeedLibrary {
  /// The saved feeds, in the order of `addresses`; `nil` for those that aren't in the fleet, or whose key another program
  /// has overwritten.
  ///
  /// **Demand:** requested on subscription. **Failure:** ``FleetError``. **Cancellation:** a later reply is dropped.
  public func feeds(_ addresses: [URL], withImages: Bool) -> AnyPublisher<[FleetFeed?], FleetError> {
    saved(addresses, withImages: withImages, skipsDamaged: true).map { $0.map(\.feed) }.eraseToAnyPublisher()
  }

  /// A feed as it was read.
  struct Saved {
    /// `nil` if the feed isn't in the fleet.
    var feed: FleetFeed?
    /// The bytes of the feed's record, which change with each poll.
    var record = Chunk()
  }

  /// The saved feeds, in the order of `addresses`.
  ///
  /// Images that are too large for a reply are left out. Otherwise, such a reply would end the connection, and one feed
  /// would prevent a gateway from reading any.
  ///
  /// - Parameter skipsDamaged: true to read a key that another program has overwritten like a missing one.
  func saved(
    _ addresses: [URL], withImages: Bool, skipsDamaged: Bool = false
  ) -> AnyPublisher<[Saved], FleetError> {
    guard !addresses.isEmpty else { return Just([]).setFailureType(to: FleetError.self).eraseToAnyPublisher() }
    let keys = addresses.map { RedisArgument(key("f:\($0.absoluteString)")) }
    guard withImages else { return saved(addresses, keys.map { [$0, "v", "m"] }, skipsDamaged: skipsDamaged) }
    let most = client.options.limits.stringBytes
    return send(keys.map { RedisCommand("HSTRLEN", $0, "d") }, wrongType: skipsDamaged ? .integer(0) : nil)
      .flatMap { [self] sizes in
        let fields = zip(keys, sizes).map { key, size -> [RedisArgument] in
          size.integer ?? 0 <= most ? [key, "v", "m", "d"] : [key, "v", "m"]
        }
        return saved(addresses, fields, skipsDamaged: skipsDamaged)
      }
      .eraseToAnyPublisher()
  }

  /// - Parameter fields: the key of each feed and the fields to read.
  private func saved(
    _ addresses: [URL], _ fields: [[RedisArgument]], skipsDamaged: Bool
  ) -> AnyPublisher<[Saved], FleetError> {
    send(fields.map { RedisCommand("HMGET", $0) }, wrongType: skipsDamaged ? .array([.null, .null]) : nil)
      .map { RedisValue.array($0) }
      .reading(in: self) { replies in
        let replies = (replies.elements ?? []).compactMap(\.elements)
        guard replies.count == addresses.count, replies.allSatisfy({ 2...3 ~= $0.count }) else { return nil }
        return zip(addresses, replies).map { address, parts in
          guard let text = parts[1].text else { return Saved() }
          let record = FeedRecord(text, of: address) ?? FeedRecord(health: FeedHealth(address: address))
          let feed = FleetFeed(
            address: address, record: record, version: parts[0].version,
            document: parts.count > 2 ? parts[2].bytes?.compacted() : nil)
          return Saved(feed: feed, record: parts[1].bytes ?? Chunk())
        }
      }
  }

  /// The URLs of all feeds, grouped by host, one page at a time.
  ///
  /// A feed that is added during the listing may be left out; a feed that exists throughout is not.
  ///
  /// **Demand:** reads a page when there is demand. **Failure:** ``FleetError``. **Cancellation:** ends the listing.
  public func addresses() -> AnyPublisher<[URL], FleetError> {
    let seen = Seen()
    return page(of: "0", seen)
      .expand { [self] page in
        page.next == "0" ? Empty<Page, FleetError>().eraseToAnyPublisher() : self.page(of: page.next, seen)
      }
      .map(\.addresses)
      .eraseToAnyPublisher()
  }

  /// True if the fleet polls a feed on this host.
  package func hasFeeds(on host: String) -> AnyPublisher<Bool, FleetError> {
    send(RedisCommand("EXISTS", RedisArgument(key("h:\(host)")))).reading(in: self) { $0.integer.map { $0 == 1 } }
  }

  private struct Page {
    var next: String
    var addresses: [URL]
  }

  /// The hosts seen so far, because a server may return a host twice.
  private final class Seen { var hosts: Set<String> = [] }

  private struct HostPage {
    var next: String
    var hosts: [String]
  }

  private func hosts(from cursor: String, _ count: Int) -> AnyPublisher<HostPage, FleetError> {
    send(RedisCommand("ZSCAN", RedisArgument(key("hosts")), RedisArgument(cursor), "COUNT", RedisArgument(count)))
      .reading(in: self) { reply in
        guard let parts = reply.elements, parts.count == 2, let next = parts[0].text, let pairs = parts[1].elements
        else { return nil }
        return HostPage(next: next, hosts: stride(from: 0, to: pairs.count, by: 2).compactMap { pairs[$0].text })
      }
  }

  /// Reads the names of all hosts, and the feeds of the first hosts. There can be as many hosts as feeds, because
  /// nearly every feed may have its own host. A host whose key another program has overwritten has no feeds.
  public func first(_ count: Int) -> AnyPublisher<[URL], FleetError> {
    func start(at cursor: String) -> AnyPublisher<HostPage, FleetError> { hosts(from: cursor, 1000) }
    return start(at: "0")
      .expand { $0.next == "0" ? Empty<HostPage, FleetError>().eraseToAnyPublisher() : start(at: $0.next) }
      .reduce(FirstNames(count + 100)) { names, page in
        var names = names
        names.add(page.hosts)
        return names
      }
      .flatMap { [self] names -> AnyPublisher<[URL], FleetError> in
        send(
          names.sorted.map { RedisCommand("ZRANGE", RedisArgument(key("h:\($0)")), 0, -1) }, wrongType: .array([])
        )
        .map { RedisValue.array($0) }
        .reading(in: self) { replies in
          let feeds = (replies.elements ?? []).compactMap(\.elements)
          guard feeds.count == names.sorted.count else { return nil }
          let texts = feeds.lazy.flatMap { $0.compactMap(\.text).sorted() }
          return Array(texts.compactMap { URL(string: $0) }.prefix(count))
        }
      }
      .eraseToAnyPublisher()
  }

  public func edition() -> AnyPublisher<String, FleetError> {
    run(FleetScripts.edition).reading(in: self) { $0.text }
  }

  private func page(of cursor: String, _ seen: Seen) -> AnyPublisher<Page, FleetError> {
    hosts(from: cursor, 200)
      .flatMap { [self] page -> AnyPublisher<Page, FleetError> in
        let next = page.next
        let hosts = page.hosts.filter { seen.hosts.insert($0).inserted }
        guard !hosts.isEmpty else {
          return Just(Page(next: next, addresses: [])).setFailureType(to: FleetError.self).eraseToAnyPublisher()
        }
        return send(hosts.map { RedisCommand("ZRANGE", RedisArgument(key("h:\($0)")), 0, -1) })
          .map { RedisValue.array($0) }
          .reading(in: self) { replies in
            let feeds = (replies.elements ?? []).compactMap(\.elements)
            guard feeds.count == hosts.count else { return nil }
            return Page(
              next: next, addresses: feeds.joined().compactMap { $0.text.flatMap { URL(string: $0) } })
          }
      }
      .eraseToAnyPublisher()
  }

  /// The state of polling a feed, which explains the decisions about it.
  public func explanation(of address: URL) -> AnyPublisher<FeedExplanation, FleetError> {
    let address = address.absoluteURL
    return saved([address], withImages: false)
      .flatMap { [self] saved -> AnyPublisher<FeedExplanation, FleetError> in
        let feed = saved[0].feed
        let name = (feed?.record.health.requestAddress ?? address).pollingHost
        return send([
          RedisCommand("ZSCORE", RedisArgument(key("h:\(name)")), RedisArgument(address.absoluteString)),
          RedisCommand("ZSCORE", RedisArgument(key("pauses")), RedisArgument(name)),
          RedisCommand("HGET", RedisArgument(key("reasons")), RedisArgument(name)),
          RedisCommand("HGET", RedisArgument(key("paces")), RedisArgument(name)),
        ])
        .map { replies in
          var health = feed?.record.health
          // The feed was added, but not requested yet.
          if health == nil, replies[0].integer != nil { health = FeedHealth(address: address) }
          if let due = replies[0].date { health?.due = due }
          if health?.asked == nil, health?.reason.isEmpty == true { health?.reason = "no worker has requested it yet" }
          var host = HostHealth(name: name)
          // A pause without an end is shown as one that ends in the year 9999.
          host.pausedUntil = replies[1].integer.map { Date(milliseconds: min($0, 253_402_300_799_000)) }
          host.reason = replies[2].text ?? ""
          host.pace = HostPace(stored: replies[3].text)
          return FeedExplanation(
            address: address, saved: feed?.summary, health: health, host: host, decisions: feed?.record.decisions ?? [])
        }
        .eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }
}

/// Finds the first few of any number of names, in alphabetical order, without keeping the rest.
struct FirstNames {
  private(set) var sorted: [String] = []
  private let count: Int

  init(_ count: Int) { self.count = count }

  mutating func add(_ names: [String]) {
    // Most pages of a long list contain none of those names.
    let news = sorted.count < count ? names : names.filter { $0 < sorted[count - 1] }
    guard !news.isEmpty else { return }
    var seen: Set<String> = []
    sorted = Array((sorted + news).sorted().filter { seen.insert($0).inserted }.prefix(count))
  }
}
