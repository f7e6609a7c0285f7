public import FeedHTTP
import FeedPolling
import FeedRedis
public import FeedStream
import Foundation

/// Keeps the responses of an HTTP cache in a fleet's database, which any number of machines can share.
///
///     let client = RedisClient(try RedisAddress(parsing: "redis://localhost"), on: loop)
///     let fleet = RedisFleet(client, creates: true)
///     let cached = CurlHTTPClient(on: loop).cached(in: RedisHTTPCache(fleet))
///
/// The cache's size is limited: when it exceeds ``capacity``, the least recently used responses are deleted. Each
/// change is atomic on the server; a change starts over if another client has changed the same key. Like a fleet's
/// feeds, responses are saved only on a server that doesn't evict keys (`maxmemory-policy noeviction`). Use it on its
/// fleet's thread.
public final class RedisHTTPCache: HTTPCacheStore {
  /// The default capacity: 50 MB.
  public static let defaultCapacity = 50_000_000

  /// The maximum number of bytes kept, as `HTTPStoredResponse.byteCount` counts them.
  public let capacity: Int
  private let fleet: RedisFleet

  /// - Parameter capacity: the maximum number of bytes kept; use the same number in all processes that share the cache.
  public init(_ fleet: RedisFleet, capacity: Int = RedisHTTPCache.defaultCapacity) {
    self.fleet = fleet
    self.capacity = capacity
  }

  public func responses(
    for key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool
  ) -> AnyPublisher<[HTTPStoredResponse], HTTPCacheError> {
    kept(key)
      .flatMap { [self] kept -> AnyPublisher<[HTTPStoredResponse], FleetError> in
        let wanted = kept.responses.filter { isWanted($0.head) }
        guard !wanted.isEmpty else { return Just([]).setFailureType(to: FleetError.self).eraseToAnyPublisher() }
        let bodies = fleet.send([
          RedisCommand("MGET", wanted.map { RedisArgument(fleet.key("cb:\($0.id)")) })
        ])
        // Recording the use fails on a replica or when memory is full; the responses are delivered anyway.
        let use = fleet.run(FleetScripts.cacheUse, wanted.map { RedisArgument($0.id) }).map { _ in }
          .catch { _ in Just(()).setFailureType(to: FleetError.self) }
        return bodies.zip(use).map { replies, _ in
          zip(wanted, replies[0].elements ?? []).compactMap { one, body in
            // The body may have been deleted between the two commands.
            body.bytes.map { bytes in
              HTTPStoredResponse(head: one.head, body: bytes.withUnsafeBytes { Data($0) })
            }
          }
        }
        .eraseToAnyPublisher()
      }
      .mapError { HTTPCacheError("\($0)") }
      .eraseToAnyPublisher()
  }

  public func change(
    _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, to change: HTTPCacheChange
  ) -> AnyPublisher<Never, HTTPCacheError> {
    attempt(key, isMeant, change, triesLeft: 50).mapError { HTTPCacheError("\($0)") }.ignoreOutput()
      .eraseToAnyPublisher()
  }

  private func attempt(
    _ key: String, _ isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, _ change: HTTPCacheChange,
    triesLeft: Int
  ) -> AnyPublisher<Void, FleetError> {
    kept(key)
      .flatMap { [self] kept -> AnyPublisher<Bool, FleetError> in
        let meant = kept.responses.filter { isMeant($0.head) }
        let done = Just(true).setFailureType(to: FleetError.self).eraseToAnyPublisher()
        var (action, head, bytes, body) = ("remove", "", 0, Chunk())
        switch change {
        case .remove: if meant.isEmpty { return done }
        case .save(let response):
          // A longer body couldn't be read again.
          if response.byteCount <= min(capacity, fleet.client.options.limits.stringBytes) {
            (action, head, bytes) = ("save", CachedHead(response.head).text, response.byteCount)
            body = Chunk(Array(response.body))
          } else if meant.isEmpty {
            return done
          }
        case .freshen(let new):
          guard let last = meant.last else { return done }
          let growth = new.headers.lines.count - last.head.headers.lines.count
          (action, head, bytes) = ("freshen", CachedHead(new).text, growth)
        }
        let arguments: [RedisArgument] = [
          RedisArgument(key), RedisArgument(kept.version), RedisArgument(action), RedisArgument(capacity),
          RedisArgument(head), RedisArgument(bytes), RedisArgument(body),
        ]
        let run = fleet.run(FleetScripts.cacheChange, arguments + meant.map { RedisArgument($0.id) })
        return (action == "remove" ? run : fleet.keeping(run)).map { $0.integer == 1 }.eraseToAnyPublisher()
      }
      .flatMap { [self] isDone -> AnyPublisher<Void, FleetError> in
        if isDone { return Just(()).setFailureType(to: FleetError.self).eraseToAnyPublisher() }
        guard triesLeft > 0 else {
          return Fail(error: .store(.insertion(.busy, place: fleet.place))).eraseToAnyPublisher()
        }
        return attempt(key, isMeant, change, triesLeft: triesLeft - 1)
      }
      .eraseToAnyPublisher()
  }

  /// The responses under a key, without their bodies, in order of arrival.
  private struct Kept {
    /// A number that changes with each change of the key.
    var version = ""
    var responses: [(id: String, head: HTTPStoredResponse.Head)] = []
  }

  private func kept(_ key: String) -> AnyPublisher<Kept, FleetError> {
    fleet.send([RedisCommand("HGETALL", RedisArgument(fleet.key("c:\(key)")))])
      .map { replies in
        var kept = Kept()
        let fields = replies[0].elements ?? []
        for place in stride(from: 0, to: fields.count - 1, by: 2) {
          guard let name = fields[place].text, let text = fields[place + 1].text else { continue }
          if name == "n" {
            kept.version = text
          } else if let head = CachedHead(text)?.head {
            kept.responses.append((name, head))
          }
        }
        kept.responses.sort { ($0.head.received, Int($0.id) ?? 0) < ($1.head.received, Int($1.id) ?? 0) }
        return kept
      }
      .eraseToAnyPublisher()
  }
}

/// A response without its body, as a line of text.
private struct CachedHead: Codable {
  var s: Int
  var u: String
  var q: Double
  var r: Double
  var h: Data
  var v: [String: String?]
  var d: Bool

  init(_ head: HTTPStoredResponse.Head) {
    (s, u, h) = (head.status, head.url.absoluteString, Data(head.headers.lines))
    (q, r) = (head.requested.timeIntervalSinceReferenceDate, head.received.timeIntervalSinceReferenceDate)
    (v, d) = (head.selectors, head.isDecoded)
  }

  // Encoding these types can't fail.
  var text: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}" }

  /// - Returns: `nil` for text that isn't a response.
  init?(_ text: String) {
    guard let head = try? JSONDecoder().decode(CachedHead.self, from: Data(text.utf8)) else { return nil }
    self = head
  }

  var head: HTTPStoredResponse.Head? {
    URL(string: u).map {
      HTTPStoredResponse.Head(
        status: s, headers: HTTPHeaders(lines: Chunk(h)), url: $0,
        requested: Date(timeIntervalSinceReferenceDate: q), received: Date(timeIntervalSinceReferenceDate: r),
        selectors: v, isDecoded: d)
    }
  }
}
