import CLibrary

extension SocketAddress {
  /// The identity of a client: its address without the port. An IPv6 network with a 64-bit prefix counts as one client,
  /// because one client may use all of its addresses. An IPv4 address within IPv6 counts as the IPv4 address.
  package var client: String {
    guard let host, host.utf8.contains(UInt8(ascii: ":")) else { return host ?? "" }
    var address = in6_addr()
    // A link-local address may have a zone, which is removed.
    guard inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &address) == 1 else { return host }
    let bytes = withUnsafeBytes(of: &address) { Array($0) }
    if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]) {
      return bytes[12...].map(String.init).joined(separator: ".")
    }
    return bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":") + "/64"
  }

  /// True for a client on this machine: a socket in the file system, or a loopback address.
  package var isLocal: Bool {
    guard case .internet(let host, _) = kind else { return true }
    return host == "::1" || client.hasPrefix("127.")
  }
}
