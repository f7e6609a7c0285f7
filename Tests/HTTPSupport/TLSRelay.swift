import Foundation
import TestSupport

extension RawOrigin {
  /// A relay in front of a TLS server that ends connections without `close_notify`.
  ///
  /// - Parameter port: the server's port, on loopback.
  static func cuttingTLS(to port: Int) -> RawOrigin {
    RawOrigin { connection in
      let server = try Connection.open(to: port)
      defer { close(server.descriptor) }
      while true {
        var ready = [connection, server].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&ready, 2, -1) > 0 else { return }
        if ready[0].revents != 0 { try server.send(connection.receive()) }
        guard ready[1].revents != 0 else { continue }
        let head = try server.receive(exactly: 5)
        let body = try server.receive(exactly: Int(head[3]) << 8 | Int(head[4]))
        // An alert: by its type, or by its length, as TLS 1.3 hides the type.
        guard head[0] != 21, head[0] != 23 || body.count != 19 else { return }
        try connection.send(head + body)
      }
    }
  }
}
