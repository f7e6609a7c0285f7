internal import FeedStream

extension HTTPServer.Middleware {
  /// Limits the requests of each client in a period; further requests get 429 with `Retry-After`.
  ///
  /// A client has a bucket of `requests`, which refills at an even pace: it may use them in one burst, and then as fast
  /// as they are refilled.
  ///
  /// - Parameters:
  ///   - requests: the number, per `while`.
  ///   - while: the time in which an empty bucket fills.
  ///   - clients: the maximum number of remembered clients, the latest ones; 10,000 by default.
  ///   - client: returns the client to whom a request is charged, by default its address; `nil` for requests without a
  ///     limit. A network of IPv6 with a prefix of 64 bits is one client.
  public static func rateLimit(
    _ requests: Int, per while: Duration, clients: Int = 10_000,
    client: ((HTTPServer.Request) -> String?)? = nil
  ) -> Self {
    precondition(requests > 0 && clients > 0, "Middleware.rateLimit: it would reject every request; use 1 or more")
    precondition(`while` > .zero, "Middleware.rateLimit: the time is zero or less; use more than zero")
    let buckets = Buckets(size: requests, fill: StreamInstant.Stride(`while`).nanoseconds, most: clients)
    let client = client ?? { $0.peer.client }
    return Self { next in
      { request in
        guard let client = client(request), let wait = buckets.take(client, at: request.scheduler.now) else {
          return try next(request)
        }
        var problem = HTTPServer.Problem(.tooManyRequests, detail: "Try again in \(wait) s.")
        problem.headers = ["Retry-After": "\(wait)"]
        throw problem
      }
    }
  }
}

/// The requests that each client has left.
private final class Buckets {
  /// The level, in nanoseconds of filling.
  private struct Bucket {
    var level: Int64
    var seen: StreamInstant
  }

  private let fill: Int64
  private let price: Int64
  private let most: Int
  private var buckets: [String: Bucket] = [:]

  init(size: Int, fill: Int64, most: Int) {
    self.fill = fill
    price = max(1, fill / Int64(size))
    self.most = most
  }

  /// - Returns: `nil` when the request may pass; otherwise, the seconds until one may.
  func take(_ client: String, at now: StreamInstant) -> Int64? {
    var bucket = buckets[client] ?? Bucket(level: fill, seen: now)
    bucket.level = min(fill, bucket.level + bucket.seen.distance(to: now).nanoseconds)
    bucket.seen = now
    let isAllowed = bucket.level >= price
    if isAllowed { bucket.level -= price }
    buckets[client] = bucket
    if buckets.count > most { forget() }
    return isAllowed ? nil : (price - bucket.level + 999_999_999) / 1_000_000_000
  }

  /// Drops the half that was seen longest ago, so that this happens rarely.
  private func forget() {
    let times = buckets.values.map(\.seen).sorted()
    let limit = times[times.count / 2]
    buckets = buckets.filter { $0.value.seen > limit }
  }
}
