public import FeedStream

/// A request and its response, for logging or counting.
public struct CompletedRequest: Sendable, CustomStringConvertible {
  public var method: HTTPMethod
  /// The path as received, without the query, which may contain secrets.
  public var path: String
  /// The path of the route, with its placeholders: see ``ServerRequest/route``.
  public var route: String?
  public var status: HTTPStatus
  /// The time from the request's head to the response's.
  public var duration: Duration
  public var peer: SocketAddress
  /// The request's id, if ``HTTPMiddleware/requestIDs(_:)`` is used.
  public var id: String?

  init(_ request: ServerRequest, _ status: HTTPStatus, _ began: StreamInstant, _ ended: StreamInstant) {
    (method, path, route) = (request.method, request.path, request.route)
    (peer, id) = (request.peer, request.id)
    self.status = status
    duration = .nanoseconds(began.distance(to: ended).nanoseconds)
  }

  public var description: String {
    "\(method) \(path) \(status.code) \(duration) \(peer)" + (id.map { " \($0)" } ?? "")
  }
}

extension HTTPMiddleware {
  /// Calls `write` for every request when its response begins, unless its client disconnects first.
  ///
  ///     routes.use(.log { print($0) })
  public static func log(_ write: @escaping (CompletedRequest) -> Void) -> Self {
    Self { next in
      { request in
        // Read from the exchange: copying the scheduler would require reference counting.
        let began = request.exchange.now
        // An immediate response needs no closure that outlives this call. It is unwrapped and rewrapped, because
        // that doesn't copy it.
        switch try next(request) {
        case .now(let response):
          write(CompletedRequest(request, response.status, began, request.exchange.now))
          return .now(response)
        case .later(let publisher):
          return HTTPReply.later(publisher).map {
            write(CompletedRequest(request, $0.status, began, request.scheduler.now))
          }
        }
      }
    }
  }

  /// Gives each request an id, which handlers and logs read from ``ServerRequest/id``. The server sends it in the
  /// response's `X-Request-ID` field, replacing a field with this name that the response already has. An id that the
  /// client sends is used if it has at most 128 letters, digits, and `-_.`.
  ///
  /// - Parameter make: makes an id. By default, ids are 13 letters and digits, which don't repeat while the server
  ///   runs; they are random, but not secret.
  public static func requestIDs(_ make: (() -> String)? = nil) -> Self {
    let make = make ?? RandomIDs().next
    return Self { next in
      { request in
        let exchange = request.exchange
        // The server writes the id with the response: adding it here would copy the response's fields.
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

/// Creates ids as numbers in base 32, with a generator that starts at a random point and visits each 64-bit number
/// once. Creating an id requires no system call, and the ids are short enough to be stored without an allocation.
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

extension ServerRequest {
  /// The id from ``HTTPMiddleware/requestIDs(_:)``, regardless of the order of the middleware.
  public var id: String? { exchange.id }
  /// The user identified by ``HTTPMiddleware/basic(realm:_:)`` or ``HTTPMiddleware/bearer(_:)``.
  public var user: String? { notes["user"] }
}
