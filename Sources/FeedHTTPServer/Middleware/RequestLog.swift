public import FeedStream

extension HTTPServer {
  /// A request with a response, for a log or for counting.
  public struct AnsweredRequest: Sendable, CustomStringConvertible {
    public var method: Method
    /// The path as it came, without the query, which may have secrets.
    public var path: String
    public var status: Status
    /// The time from the request's head to the response's.
    public var duration: Duration
    public var peer: SocketAddress
    /// The request's id, if ``Middleware/requestIDs(_:)`` is used.
    public var id: String?

    public var description: String {
      "\(method) \(path) \(status.code) \(duration) \(peer)" + (id.map { " \($0)" } ?? "")
    }
  }
}

extension HTTPServer.Middleware {
  /// Calls `write` for every request when its response begins, unless its client disconnects first.
  ///
  ///     routes.use(.log { print($0) })
  public static func log(_ write: @escaping (HTTPServer.AnsweredRequest) -> Void) -> Self {
    Self { next in
      { request in
        let began = request.scheduler.now
        func log(_ response: HTTPServer.Response) {
          write(
            HTTPServer.AnsweredRequest(
              method: request.method, path: request.path, status: response.status,
              duration: .nanoseconds(began.distance(to: request.scheduler.now).nanoseconds), peer: request.peer,
              id: request.id))
        }
        let reply = try next(request)
        // A response that is here needs no function that is kept until it is.
        guard case .now(let response) = reply else { return reply.map { log($0) } }
        log(response)
        return reply
      }
    }
  }

  /// Counts requests and times them: like ``log(_:)``, but summed up in one value, by class of status.
  public static func counting(in metrics: HTTPServer.Metrics) -> Self { log { metrics.count($0) } }

  /// Gives each request an id, which the response carries as `X-Request-ID`, and which handlers and logs read from
  /// ``HTTPServer/Request/id``. An id that the client sends is kept if it has at most 128 letters, digits, and `-_.`.
  ///
  /// - Parameter make: makes an id. By default, ids are 13 letters and digits, which don't repeat while the server runs; they
  ///   are random, but not secret.
  public static func requestIDs(_ make: (() -> String)? = nil) -> Self {
    let make = make ?? RandomIDs().next
    return Self { next in
      { request in
        let sent = request.headers["X-Request-ID"].flatMap { isID($0) ? $0 : nil }
        let id = sent ?? make()
        request.exchange.id = id
        switch try next(request) {
        case .now(var response):
          response.headers["X-Request-ID"] = id
          return .now(response)
        case let later: return later.map { $0.headers["X-Request-ID"] = id }
        }
      }
    }
  }

  private static func isID(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      }
  }
}

/// Numbers in base 32, from a generator that starts at a random place and visits each number of 64 bits once. The system
/// isn't asked for each, and their texts are short enough to take no memory.
private final class RandomIDs {
  @exclusivity(unchecked) private var numbers = SplitMix64(seed: .random(in: .min ... .max))

  func next() -> String {
    var number = numbers.next()
    return String(unsafeUninitializedCapacity: 13) { room in
      for index in room.indices.prefix(13) {
        let digit = UInt8(truncatingIfNeeded: number & 31)
        room[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
        number >>= 5
      }
      return 13
    }
  }
}

extension HTTPServer.Request {
  /// The id that ``HTTPServer/Middleware/requestIDs(_:)`` gave it, whichever middleware is outside of the other.
  public var id: String? { exchange.id }
  /// The user whom ``HTTPServer/Middleware/basic(realm:_:)`` or ``HTTPServer/Middleware/bearer(_:)`` found.
  public var user: String? { notes["user"] }
}

extension HTTPServer {
  /// The number and the duration of requests. Lives on its server's thread.
  public final class Metrics {
    /// The number of responses by status.
    public private(set) var responses: [Int: Int] = [:]
    /// The time of all responses together.
    public private(set) var time: Duration = .zero
    /// The longest.
    public private(set) var longest: Duration = .zero

    public init() {}

    public var count: Int { responses.values.reduce(0, +) }

    func count(_ request: AnsweredRequest) {
      responses[request.status.code, default: 0] += 1
      time += request.duration
      longest = max(longest, request.duration)
    }
  }
}
