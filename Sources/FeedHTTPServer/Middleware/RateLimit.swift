internal import FeedStream

extension HTTPMiddleware {
  /// Limits the number of requests per client in a period; requests beyond the limit get 429 with `Retry-After`.
  ///
  /// Each client has a bucket of `requests`, which refills at an even pace. The client may send that many in one burst,
  /// and further requests only as fast as the bucket refills. Each server of an ``HTTPServerGroup`` has its own
  /// buckets, so a client whose connections are on several loops may send that many on each.
  ///
  /// - Parameters:
  ///   - requests: the number of requests per period (`while`).
  ///   - while: the time that an empty bucket takes to refill.
  ///   - clients: the maximum number of clients to remember; those seen least recently are forgotten. 10,000 by
  ///     default.
  ///   - client: returns the client whose limit a request counts against: by default, the client's address; `nil` for
  ///     requests without a limit. An IPv6 network with a 64-bit prefix counts as one client.
  public static func rateLimit(
    _ requests: Int, per while: Duration, clients: Int = 10_000,
    client: ((ServerRequest) -> String?)? = nil
  ) -> Self {
    precondition(requests > 0 && clients > 0, "HTTPMiddleware.rateLimit: requests and clients must be at least 1")
    precondition(`while` > .zero, "HTTPMiddleware.rateLimit: the time is zero or less; use more than zero")
    let buckets = Buckets(size: requests, fill: StreamInstant.Stride(`while`).nanoseconds, most: clients)
    let client = client ?? { $0.peer.client }
    return Self { next in
      { request in
        guard let client = client(request), let wait = buckets.take(client, at: request.scheduler.now) else {
          return try next(request)
        }
        var problem = ProblemDetails(.tooManyRequests, detail: "Try again in \(wait) s.")
        problem.headers = ["Retry-After": "\(wait)"]
        throw problem
      }
    }
  }
}

/// The remaining requests of each client.
private final class Buckets {
  /// The level of a bucket, as the time to refill it to this level, in nanoseconds.
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

  /// - Returns: `nil` if the request may pass; otherwise, the number of seconds until the next one may.
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

  /// Drops the half of the clients that were seen least recently, so that this function runs rarely.
  private func forget() {
    let times = buckets.values.map(\.seen).sorted()
    let limit = times[times.count / 2]
    buckets = buckets.filter { $0.value.seen > limit }
  }
}
