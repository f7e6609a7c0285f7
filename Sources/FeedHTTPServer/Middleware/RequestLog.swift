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

    init(_ request: Request, _ status: Status, _ began: StreamInstant, _ ended: StreamInstant) {
      (method, path, peer, id) = (request.method, request.path, request.peer, request.id)
      self.status = status
      duration = .nanoseconds(began.distance(to: ended).nanoseconds)
    }

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
        // In place: a copy of the scheduler would count references.
        let server = request.exchange.connection.server
        let began = server.scheduler.now
        // A response that is here needs no function that is kept until it is. Taken apart and put together again, it
        // isn't copied.
        switch try next(request) {
        case .now(let response):
          write(HTTPServer.AnsweredRequest(request, response.status, began, server.scheduler.now))
          return .now(response)
        case .later(let publisher):
          return HTTPServer.Reply.later(publisher).map {
            write(HTTPServer.AnsweredRequest(request, $0.status, began, request.scheduler.now))
          }
        }
      }
    }
  }

  /// Counts requests and times them: like ``log(_:)``, but summed up in one value, by class of status.
  public static func counting(in metrics: HTTPServer.Metrics) -> Self { log { metrics.count($0) } }

  /// Gives each request an id, which handlers and logs read from ``HTTPServer/Request/id``. The server sends it in the
  /// response's field `X-Request-ID`, instead of the response's own field of this name. An id that the client sends is kept if it has at most 128 letters, digits, and `-_.`.
  ///
  /// - Parameter make: makes an id. By default, ids are 13 letters and digits, which don't repeat while the server runs; they
  ///   are random, but not secret.
  public static func requestIDs(_ make: (() -> String)? = nil) -> Self {
    let make = make ?? RandomIDs().next
    return Self { next in
      { request in
        let exchange = request.exchange
        // The server writes it with the response: here, the response's fields would be copied.
        exchange.id = exchange.head.value(of: "X-Request-ID").flatMap { isID($0) ? $0 : nil } ?? make()
        return try next(request)
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
  private static let digits: StaticString = "0123456789abcdefghijklmnopqrstuv"

  func next() -> String {
    var number = numbers.next()
    return String(unsafeUninitializedCapacity: 13) { room in
      let digits = Self.digits.utf8Start
      for index in 0..<13 {
        room[index] = digits[Int(truncatingIfNeeded: number & 31)]
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
