import CLibrary
import FeedStream

extension SocketAddress {
  /// True if two sockets can't have both addresses: these are the same, or one of them is the wildcard of the other.
  func collides(with other: SocketAddress) -> Bool {
    guard case .internet(let host, let port) = kind, case .internet(let otherHost, let otherPort) = other.kind else {
      return self == other
    }
    guard port == otherPort else { return false }
    return host == otherHost || host.isWildcard(of: otherHost) || otherHost.isWildcard(of: host)
  }

  /// The addresses of the sockets that receive what is sent here, the most specific first.
  var homes: [SocketAddress] {
    guard case .internet(let host, let port) = kind else { return [self] }
    return [self] + ["0.0.0.0", "::"].filter { $0.isWildcard(of: host) }.map { .internet($0, port: port) }
  }

  /// The address that `receiver` sees; a wildcard isn't the address of a sender.
  func asSender(to receiver: SocketAddress) -> SocketAddress {
    switch kind {
    case .internet("0.0.0.0", let port): .internet("127.0.0.1", port: port)
    case .internet("::", let port):
      .internet(receiver.host?.contains(":") == false ? "127.0.0.1" : "::1", port: port)
    default: self
    }
  }
}

extension String {
  /// True if this host is a wildcard that includes `host`. That of IPv6 includes IPv4's addresses.
  fileprivate func isWildcard(of host: String) -> Bool { self == "::" || self == "0.0.0.0" && !host.contains(":") }

  /// True if this is an IP address, as opposed to a name.
  var isNumericHost: Bool {
    var address = in6_addr()
    // An IPv6 address may name a zone.
    return inet_pton(AF_INET, self, &address) == 1 || inet_pton(AF_INET6, String(prefix { $0 != "%" }), &address) == 1
  }
}
