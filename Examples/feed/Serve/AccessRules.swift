import ArgumentParser
import FeedHTTP
import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// Decides which requests are accepted.
///
/// A page from another site can make its own host name point to this machine (DNS rebinding) and then read the data
/// served here, because the browser treats both as the same site. Such a request has that name in `Host`, so only IP
/// addresses, `localhost` and allowed names are accepted. If other machines can reach the server, requests also need a
/// token.
struct AccessRules: Sendable {
  /// The token that requests need; `nil` if other machines can't connect.
  let token: String?
  /// The name of the cookie for clients that have sent the token. Its value is computed from the token and the secret,
  /// so it doesn't reveal the token, and can't be guessed even if the token is short.
  let cookie: String
  let pass: String
  private let isLoopback: Bool
  private let host: String?
  private let names: Set<String>

  /// - Parameter secret: the key for the cookie's value, kept so that the cookie is still valid after a restart.
  init(host: String, token: String?, names: [String], secret: [UInt8] = PageSecret.random()) {
    self.host = Self.address(host)
    self.names = Set(names.map { Self.name($0) })
    isLoopback = self.host.map(Self.isLoopback) ?? false
    let needsToken = !isLoopback || token != nil
    self.token = needsToken ? token ?? PageSecret.random().hexDigits : nil
    let code = SHA1.code(of: Array("feed serve \(self.token ?? "")".utf8), key: secret).hexDigits
    // The name depends on the token, because browsers send a host's cookies to all of its ports, where other servers
    // may run.
    cookie = "feed-token-\(code.prefix(8))"
    pass = String(code.dropFirst(8))
  }

  /// True for a `Host` that an attacker can't choose. Any port is accepted, because an attacker can't choose it either,
  /// and a tunnel changes it.
  func knows(_ host: String?) -> Bool {
    guard let host else { return false }
    let name = Self.name(inHost: host)
    if name == "localhost" || names.contains(name) { return true }
    guard let address = Self.address(name) else { return false }
    return !isLoopback || address == self.host || Self.isLoopback(address)
  }

  /// The name or the address in the value of `Host`, as it is compared.
  static func name(inHost host: String) -> String {
    host.hasPrefix("[") ? name(host.dropFirst().prefix { $0 != "]" }) : name(host.prefix { $0 != ":" })
  }

  /// The port in the value of `Host`; empty if there is none.
  static func port(inHost host: String) -> Substring {
    let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } : ""
    return host.dropFirst(name.count).drop { $0 != ":" }.dropFirst()
  }

  /// The name as it is compared, without the final dot of a fully qualified name.
  static func name(_ text: some StringProtocol) -> String {
    let name = text.lowercased()
    return name.count > 1 && name.hasSuffix(".") ? String(name.dropLast()) : name
  }

  /// Reads a host name from the command line, or the one in a URL, without its port.
  static func allowedName(_ text: String) throws -> String {
    if isAddress(text) { return name(text) }
    let isPlain = { (byte: UInt8) in byte < 0x80 && !"*,% \t\r\n".utf8.contains(byte) }
    let address = text.contains("://") ? text : "http://\(text)/"
    guard text.utf8.allSatisfy(isPlain), let host = try? FeedAddress.parse(address).host else {
      throw ValidationError(
        "--allow-host needs one host name such as feeds.example.org; write bücher.example as xn--bcher-kva.example.")
    }
    return name(inHost: host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)
  }

  static func isAddress(_ name: String) -> Bool { address(name) != nil }

  /// The host of the address that most clients can reach: not a loopback address, if there is any other.
  static func widest(_ addresses: [SocketAddress]) -> String {
    let hosts = addresses.compactMap(\.host)
    return hosts.first { !(address($0).map(isLoopback) ?? false) } ?? hosts.first ?? "127.0.0.1"
  }

  private static func isLoopback(_ address: String) -> Bool { address == "::1" || address.hasPrefix("127.") }

  /// The address in its usual notation; `nil` if it isn't one. An IPv4 address that is mapped to IPv6 becomes IPv4.
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

  /// True if a request needs no token, or has the cookie of a client that has sent the token.
  func knows(_ request: ServerRequest) -> Bool {
    guard token != nil else { return true }
    // Split at bytes: a `Character` may contain a separator and the scalars around it.
    let offers = request.headers.values(of: "Cookie").flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }
    return offers.contains { offer in
      let pair = offer.drop { $0 == UInt8(ascii: " ") }.split(separator: UInt8(ascii: "="), maxSplits: 1)
      return pair.count == 2 && pair[0].elementsEqual(cookie.utf8) && Self.isSame(String(Substring(pair[1])), pass)
    }
  }

  /// The tokens in a request.
  static func offers(_ request: ServerRequest) -> [String] {
    let header = request.headers["Authorization"].flatMap {
      $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : nil
    }
    return [request.query("token"), header].compactMap { $0 }
  }

  /// True for a request that a page of another site makes, unless the user follows a link. The browser hides the
  /// response from that page, but the request would still count as a visit, and cost time. `Sec-Purpose` marks a page
  /// that the browser loads in advance, because the other page says that the user may follow a link to it.
  static func isForOtherSite(_ headers: HTTPHeaders) -> Bool {
    guard let site = headers["Sec-Fetch-Site"] else { return false }
    return ["cross-site", "same-site"].contains(site)
      && (headers["Sec-Fetch-Dest"] != "document" || headers["Sec-Purpose"] != nil)
  }

  func isToken(_ offer: String) -> Bool { token.map { Self.isSame($0, offer) } ?? true }

  /// Compares in constant time.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    return zip(a.utf8, b.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension HTTPServer {
  /// Responds to the requests that `access` accepts, and tells browsers that the pages may load only resources from
  /// this server.
  ///
  /// - Parameters:
  ///   - guesses: counts wrong tokens, for all servers together.
  ///   - served: counts all requests, even those that aren't accepted.
  func serve(
    _ routes: HTTPRoutes, allowedBy access: AccessRules, _ guesses: SharedValue<TokenGuesses>, _ served: ServedRequests
  ) -> AnyCancellable {
    headers = Site.protection
    var routes = routes
    served.watch(&routes)
    routes.use(access.middleware(guesses))
    return serve(routes)
  }
}

extension AccessRules {
  /// Responds to requests that the rules don't accept.
  fileprivate func middleware(_ guesses: SharedValue<TokenGuesses>) -> HTTPMiddleware {
    HTTPMiddleware { [access = self] next in
      { request in
        guard access.knows(request.host) else {
          return .now(
            .text("Unknown host name. Restart \"feed serve\" with --allow-host <name>.\n", .misdirectedRequest))
        }
        guard !AccessRules.isForOtherSite(request.headers) else {
          return .now(.text("Pages of other websites can't use this server. Open it in its own tab.\n", .forbidden))
        }
        // Hubs have no token, and neither do servers that verify signatures: see Site+Push and Site+Keys.
        var isAdmitted =
          access.knows(request) || Site.isPush(request.path) || request.path == RequestSigner.directoryPath
        let offers = isAdmitted ? [] : AccessRules.offers(request)
        if !offers.isEmpty {
          let (peer, now) = (request.peer, request.scheduler.now)
          guard guesses.update({ $0.areAllowed(to: peer, at: now) }) else {
            var response = ServerResponse.text("Too many wrong tokens; try again in a minute.\n", .tooManyRequests)
            response.headers["Retry-After"] = "60"
            return .now(response)
          }
          isAdmitted = offers.contains(where: access.isToken)
          guesses.update { [isAdmitted] in $0.note(isRight: isAdmitted, of: peer, at: now) }
        }
        guard isAdmitted else {
          var response = ServerResponse.text(
            "A token is required. Open the URL that \"feed serve\" printed.\n", .unauthorized)
          response.headers["WWW-Authenticate"] = "Bearer realm=\"feed serve\""
          return .now(response)
        }
        return try next(request)
      }
    }
  }
}
