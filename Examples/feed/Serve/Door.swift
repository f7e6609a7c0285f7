import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// Decides which requests are let in.
///
/// A page of another site can have its own name lead to this machine (DNS rebinding) and then read what is served here,
/// for the browser takes both for one site. Such a request has that name as its `Host`: only IP addresses, `localhost`
/// and names that were allowed are let in. Where others reach the server, they need a token too.
struct Door: Sendable {
  /// The token that requests need; `nil` where nobody else can connect.
  let token: String?
  /// The cookie of a client that had the token, made of that with the secret: it tells nothing of the token, and cannot be
  /// guessed as a short token can.
  let cookie: String
  let pass: String
  private let isLoopback: Bool
  private let host: String?
  private let names: Set<String>

  /// - Parameter secret: with which the cookie is made, so that it is right after a restart.
  init(host: String, token: String?, names: [String], secret: [UInt8] = PageSecret.random()) {
    self.host = Self.address(host)
    self.names = Set(names.map { Self.name($0) })
    isLoopback = self.host.map(Self.isLoopback) ?? false
    let needsToken = !isLoopback || token != nil
    self.token = needsToken ? token ?? Self.random() : nil
    let code = SHA1.code(of: Array("feed serve \(self.token ?? "")".utf8), key: secret)
      .map { String(format: "%02x", $0) }.joined()
    // By token: browsers send cookies to every port of a host, where another server may have its own.
    cookie = "feed-token-\(code.prefix(8))"
    pass = String(code.dropFirst(8))
  }

  private static func random() -> String {
    (0..<2).map { _ in
      let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// True for a `Host` that no stranger can choose. Any port will do: that is not a stranger's either, and changes on the way
  /// through a tunnel.
  func knows(_ host: String?) -> Bool {
    guard let host else { return false }
    let name =
      host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : Self.name(host.prefix { $0 != ":" })
    if name == "localhost" || names.contains(name) { return true }
    guard let address = Self.address(name) else { return false }
    return !isLoopback || address == self.host || Self.isLoopback(address)
  }

  /// As names are compared; a dot at their end says that nothing follows.
  private static func name(_ text: some StringProtocol) -> String {
    let name = text.lowercased()
    return name.count > 1 && name.hasSuffix(".") ? String(name.dropLast()) : name
  }

  static func isAddress(_ name: String) -> Bool { address(name) != nil }

  /// The host of the address that most others reach: one that is not this machine's alone, where there is one.
  static func widest(_ addresses: [SocketAddress]) -> String {
    let hosts = addresses.compactMap(\.host)
    return hosts.first { !(address($0).map(isLoopback) ?? false) } ?? hosts.first ?? "127.0.0.1"
  }

  private static func isLoopback(_ address: String) -> Bool { address == "::1" || address.hasPrefix("127.") }

  /// The address in its usual notation; `nil` if it isn't one. An address of IPv4 within IPv6 is that of IPv4.
  private static func address(_ text: String) -> String? {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &four) == 1 { return text }
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: &six) { Array($0) }
    if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]) {
      return bytes[12...].map(String.init).joined(separator: ".")
    }
    var written = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &six, &written, socklen_t(written.count)) != nil else { return nil }
    return String(decoding: written.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// True when a request needs no token, or has the cookie of a client that had it.
  func knows(_ request: HTTPServer.Request) -> Bool {
    guard token != nil else { return true }
    return request.headers.values("Cookie").joined(separator: ";").split(separator: ";").contains { offer in
      let pair = offer.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      return pair.count == 2 && pair[0] == cookie && Self.isSame(String(pair[1]), pass)
    }
  }

  /// The tokens that a request offers.
  static func offers(_ request: HTTPServer.Request) -> [String] {
    let header = request.headers["Authorization"].flatMap {
      $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : nil
    }
    return [request.query("token"), header].compactMap { $0 }
  }

  func isToken(_ offer: String) -> Bool { token.map { Self.isSame($0, offer) } ?? true }

  /// Takes the same time wherever they differ.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    return zip(a.utf8, b.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension HTTPServer {
  /// Answers requests that `door` lets in, and says to browsers what the pages may do: nothing but show what is from here.
  ///
  /// - Parameters:
  ///   - guesses: counts wrong tokens, of all servers together.
  ///   - served: counts all requests, even those that aren't let in.
  func serve(
    _ routes: Routes, behind door: Door, _ guesses: SharedValue<TokenGuesses>, _ served: ServedRequests
  ) -> AnyCancellable {
    headers = Site.protection
    var routes = routes
    served.watch(&routes)
    routes.use(door.middleware(guesses))
    return serve(routes)
  }
}

extension Door {
  /// Responds to requests that it doesn't let in.
  fileprivate func middleware(_ guesses: SharedValue<TokenGuesses>) -> HTTPServer.Middleware {
    HTTPServer.Middleware { [door = self] next in
      { request in
        guard door.knows(request.host) else {
          return .now(
            .text("Unknown host name. Restart \"feed serve\" with --allow-host <name>.\n", .misdirectedRequest))
        }
        // Hubs have no token: see Site+Push.
        var isAdmitted = door.knows(request) || Site.isPush(request.path)
        let offers = isAdmitted ? [] : Door.offers(request)
        if !offers.isEmpty {
          let (peer, now) = (request.peer, request.scheduler.now)
          guard guesses.update({ $0.areAllowed(to: peer, at: now) }) else {
            var response = HTTPServer.Response.text("Too many wrong tokens; try again in a minute.\n", .tooManyRequests)
            response.headers["Retry-After"] = "60"
            return .now(response)
          }
          isAdmitted = offers.contains(where: door.isToken)
          guesses.update { [isAdmitted] in $0.note(isRight: isAdmitted, of: peer) }
        }
        guard isAdmitted else {
          var response = HTTPServer.Response.text(
            "A token is required. Open the URL that \"feed serve\" printed.\n", .unauthorized)
          response.headers["WWW-Authenticate"] = "Bearer realm=\"feed serve\""
          return .now(response)
        }
        return try next(request)
      }
    }
  }
}
