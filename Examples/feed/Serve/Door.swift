import FeedHTTPServer
import FeedStream
import Foundation

/// Who may come in.
///
/// A page of another site can have its own name lead to this machine (DNS rebinding) and then read what is served here, for
/// the browser takes both for one site. Such a request has that name as its `Host`: only addresses, `localhost` and names
/// that were allowed are let in. Where others reach the server, they need a token as well.
struct Door {
  /// What requests need; `nil` where nobody else comes.
  let token: String?
  private let isLoopback: Bool
  private let host: String
  private let names: Set<String>

  init(host: String, token: String?, names: [String]) {
    self.host = host
    self.names = Set(names.map { $0.lowercased() })
    isLoopback = host == "::1" || host.hasPrefix("127.")
    let needsToken = !isLoopback || token != nil
    self.token = needsToken ? token ?? Self.random() : nil
  }

  private static func random() -> String {
    (0..<2).map { _ in
      let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// True for a `Host` that no stranger can choose.
  func knows(_ host: String?) -> Bool {
    guard let host else { return false }
    let name: String
    if host.hasPrefix("[") {
      name = String(host.dropFirst().prefix { $0 != "]" })
    } else {
      name = String(host.prefix { $0 != ":" }).lowercased()
    }
    if name == "localhost" || name == self.host || names.contains(name) { return true }
    if isLoopback { return name == "::1" || name.hasPrefix("127.") && Self.isAddress(name) }
    return Self.isAddress(name)
  }

  static func isAddress(_ name: String) -> Bool {
    var (four, six) = (in_addr(), in6_addr())
    return inet_pton(AF_INET, name, &four) == 1 || inet_pton(AF_INET6, name, &six) == 1
  }

  /// True when a request has the token, or needs none.
  func admits(_ request: HTTPServer.Request) -> Bool {
    guard let token else { return true }
    var offered = [request.query("token")]
    for cookie in request.headers.values("Cookie").joined(separator: ";").split(separator: ";") {
      let pair = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      if pair.count == 2, pair[0] == Self.cookie { offered.append(String(pair[1])) }
    }
    if let header = request.headers["Authorization"], header.lowercased().hasPrefix("bearer ") {
      offered.append(String(header.dropFirst(7)))
    }
    return offered.contains { $0.map { Self.isSame($0, token) } ?? false }
  }

  static let cookie = "feed-token"

  /// Takes the same time wherever they differ.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    return zip(a.utf8, b.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension HTTPServer {
  /// Answers requests that `door` lets in, and says to browsers what the pages may do: nothing but show what is from here.
  func serve(_ routes: Routes, behind door: Door) -> AnyCancellable {
    requests.sink { [scheduler] request in
      guard door.knows(request.host) else {
        return request.respond(
          .text("This page is not reached by that name; --allow-host allows it.\n", .misdirectedRequest))
      }
      guard door.admits(request) else {
        return request.respond(.text("The address that feed serve has printed has a token; use that.\n", .unauthorized))
      }
      routes.answer(request, on: scheduler)
    }
  }
}
