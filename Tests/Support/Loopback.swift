import Foundation

/// Calls `body` with the address of a port on 127.0.0.1, as `bind` and `connect` take it; 0 is any port.
package func withLoopbackAddress<R>(
  port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> R
) rethrows -> R {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  // Calls that take a `sockaddr` accept a `sockaddr_in`.
  return try withUnsafePointer(to: &address) {
    try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
  }
}
