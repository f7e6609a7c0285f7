import FeedRedis
public import FeedStream
public import Foundation
public import ImageFeed

extension RedisFleet: FeedLibrary {
  /// What is saved of feeds, in their order; `nil` for those that nothing is known of.
  ///
  /// **Demand:** asked at the subscription. **Failure:** ``FleetError``. **Cancellation:** what comes is dropped.
  public func feeds(_ addresses: [URL], withImages: Bool) -> AnyPublisher<[FleetFeed?], FleetError> {
    guard !addresses.isEmpty else { return Just([]).setFailureType(to: FleetError.self).eraseToAnyPublisher() }
    let fields: [RedisArgument] = withImages ? ["v", "m", "d"] : ["v", "m"]
    return send(
      addresses.map { RedisCommand("HMGET", [RedisArgument(key("f:\($0.absoluteString)"))] + fields) }
    )
    .map { RedisValue.array($0) }
    .reading(in: self) { replies in
      let replies = (replies.elements ?? []).compactMap(\.elements)
      guard replies.count == addresses.count, replies.allSatisfy({ $0.count == fields.count }) else { return nil }
      return zip(addresses, replies).map { address, parts in
        guard let text = parts[1].text else { return nil }
        let record = FeedRecord(text, of: address) ?? FeedRecord(health: FeedHealth(address: address))
        return FleetFeed(
          address: address, record: record, version: parts[0].version,
          document: withImages ? parts[2].bytes?.compacted() : nil)
      }
    }
  }

  /// The addresses of all feeds, those of a host together, a page at a time.
  ///
  /// A feed that is added meanwhile may be left out; one that is there all the time is not.
  ///
  /// **Demand:** asks for a page when one is wanted. **Failure:** ``FleetError``. **Cancellation:** ends it.
  public func addresses() -> AnyPublisher<[URL], FleetError> {
    let seen = Seen()
    return page(of: "0", seen)
      .expand { [self] page in
        page.next == "0" ? Empty<Page, FleetError>().eraseToAnyPublisher() : self.page(of: page.next, seen)
      }
      .map(\.addresses)
      .eraseToAnyPublisher()
  }

  /// True when a feed that is polled is on this host.
  package func hasFeeds(on host: String) -> AnyPublisher<Bool, FleetError> {
    send(RedisCommand("EXISTS", RedisArgument(key("h:\(host)")))).reading(in: self) { $0.integer.map { $0 == 1 } }
  }

  private struct Page {
    var next: String
    var addresses: [URL]
  }

  /// A server may give a host twice.
  private final class Seen { var hosts: Set<String> = [] }

  private func page(of cursor: String, _ seen: Seen) -> AnyPublisher<Page, FleetError> {
    send(RedisCommand("ZSCAN", RedisArgument(key("hosts")), RedisArgument(cursor), "COUNT", 200))
      .reading(in: self) { reply -> (String, [RedisValue])? in
        guard let parts = reply.elements, parts.count == 2, let next = parts[0].text, let pairs = parts[1].elements
        else { return nil }
        return (next, pairs)
      }
      .flatMap { [self] next, pairs -> AnyPublisher<Page, FleetError> in
        let hosts = stride(from: 0, to: pairs.count, by: 2).compactMap { pairs[$0].text }
          .filter { seen.hosts.insert($0).inserted }
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

  /// Why a feed is asked for when it is.
  public func explanation(of address: URL) -> AnyPublisher<FeedExplanation, FleetError> {
    let address = address.absoluteURL
    return feeds([address], withImages: false)
      .flatMap { [self] feeds -> AnyPublisher<FeedExplanation, FleetError> in
        let feed = feeds[0]
        let name = (feed?.record.health.requestAddress ?? address).pollingHost
        return send([
          RedisCommand("ZSCORE", RedisArgument(key("h:\(name)")), RedisArgument(address.absoluteString)),
          RedisCommand("ZSCORE", RedisArgument(key("pauses")), RedisArgument(name)),
          RedisCommand("HGET", RedisArgument(key("reasons")), RedisArgument(name)),
        ])
        .map { replies in
          var health = feed?.record.health
          // A feed that was added and not asked for yet.
          if health == nil, replies[0].integer != nil { health = FeedHealth(address: address) }
          if let due = replies[0].date { health?.due = due }
          if health?.asked == nil, health?.reason.isEmpty == true { health?.reason = "no worker has asked for it yet" }
          var host = HostHealth(name: name)
          // Until it is ended.
          host.pausedUntil = replies[1].integer.map { Date(milliseconds: min($0, 253_402_300_799_000)) }
          host.reason = replies[2].text ?? ""
          let saved = feed.flatMap { feed in
            feed.version.map {
              CachedFeedSummary(
                address: address, timestamp: $0.date, imageCount: feed.record.imageCount,
                validators: feed.record.validators)
            }
          }
          return FeedExplanation(
            address: address, saved: saved, health: health, host: host, decisions: feed?.record.decisions ?? [])
        }
        .eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }
}
