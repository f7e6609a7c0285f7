public import FeedPolling
import FeedRedis
public import FeedStream
public import Foundation
import ImageFeed

extension RedisFleet: FeedLibrary {
  /// The saved feeds, in the order of `addresses`; `nil` for those that aren't in the fleet, or whose key another program
  /// has overwritten.
  ///
  /// **Demand:** requested on subscription. **Failure:** `FleetError`. **Cancellation:** a later reply is dropped.
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
    let replies =
      withImages
      ? run(
        FleetScripts.feed,
        each: addresses.map {
          [
            RedisArgument($0.absoluteString), RedisArgument(client.options.limits.stringBytes),
            skipsDamaged ? 1 : 0,
          ]
        })
      : send(
        addresses.map { RedisCommand("HMGET", RedisArgument(key("f:\($0.absoluteString)")), "v", "m") },
        wrongType: skipsDamaged ? .array([.null, .null]) : nil)
    return replies.map { RedisValue.array($0) }
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
  /// **Demand:** reads a page when there is demand. **Failure:** `FleetError`. **Cancellation:** ends the listing.
  public func addresses() -> AnyPublisher<[URL], FleetError> {
    Deferred { [self] in
      // A server may return a host twice.
      var seen: Set<String> = []
      return names { [self] in hosts(from: $0, 200) }
        .flatMap(maxPublishers: .max(1)) { [self] hosts in addresses(on: hosts.filter { seen.insert($0).inserted }) }
    }
    .eraseToAnyPublisher()
  }

  private func addresses(on hosts: [String]) -> AnyPublisher<[URL], FleetError> {
    send(hosts.map { RedisCommand("ZRANGE", RedisArgument(key("h:\($0)")), 0, -1) })
      .map { RedisValue.array($0) }
      .reading(in: self) { replies in
        let feeds = (replies.elements ?? []).compactMap(\.elements)
        guard feeds.count == hosts.count else { return nil }
        return feeds.joined().compactMap { $0.text.flatMap { URL(string: $0) } }
      }
  }

  /// True if the fleet polls a feed on this host.
  package func hasFeeds(on host: String) -> AnyPublisher<Bool, FleetError> {
    send(RedisCommand("EXISTS", RedisArgument(key("h:\(host)")))).reading(in: self) { $0.integer.map { $0 == 1 } }
  }

  /// A page of a listing, and the cursor of the next page; `nil` after the last one.
  struct NamePage {
    var next: String?
    var names: [String]
  }

  /// The names in a listing, one page at a time.
  ///
  /// Only the server that returned a cursor knows it, and a new connection may be to another server. So if the
  /// connection changes, the listing starts over, and delivers names again.
  func names(
    _ page: @escaping (_ cursor: String) -> AnyPublisher<NamePage, FleetError>
  ) -> AnyPublisher<[String], FleetError> {
    Deferred { [client] in
      var connection = 0
      func read(_ cursor: String?) -> AnyPublisher<NamePage, FleetError> {
        if cursor == nil { connection = client.connectionCount }
        return page(cursor ?? "0")
          .map { page in
            var page = page
            // A listing of one page has one reply.
            let isWhole = cursor == nil && page.next == nil
            if !isWhole, client.connectionCount != connection { page.next = "0" }
            return page
          }
          .eraseToAnyPublisher()
      }
      return read(nil)
        .expand { page -> AnyPublisher<NamePage, FleetError> in
          guard let next = page.next else { return Empty().eraseToAnyPublisher() }
          return read(next == "0" ? nil : next)
        }
        .map(\.names)
    }
    .eraseToAnyPublisher()
  }

  private func hosts(from cursor: String, _ count: Int) -> AnyPublisher<NamePage, FleetError> {
    send(RedisCommand("ZSCAN", RedisArgument(key("hosts")), RedisArgument(cursor), "COUNT", RedisArgument(count)))
      .reading(in: self) { reply in
        NamePage(reply) { pairs in stride(from: 0, to: pairs.count, by: 2).compactMap { pairs[$0].text } }
      }
  }

  /// Reads the names of all hosts, and the feeds of the first hosts. There can be as many hosts as feeds, because
  /// nearly every feed may have its own host. A host whose key another program has overwritten has no feeds.
  public func first(_ count: Int) -> AnyPublisher<[URL], FleetError> {
    names { [self] in hosts(from: $0, 1000) }
      .reduce(FirstNames(count + 100)) { names, hosts in
        var names = names
        names.add(hosts)
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

extension RedisFleet.NamePage {
  /// - Returns: `nil` for anything but a reply to a scan.
  init?(_ reply: RedisValue, _ names: ([RedisValue]) -> [String]) {
    guard let parts = reply.elements, parts.count == 2, let next = parts[0].text, let elements = parts[1].elements
    else { return nil }
    self.init(next: next == "0" ? nil : next, names: names(elements))
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
