import Foundation

/// A loopback address that neither accepts nor refuses connections: a listening socket whose queue is full.
final class BlackHole {
  let url: URL
  private let descriptors: [Int32]

  init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var descriptors = [listener]
    // Calls that take a `sockaddr` accept a `sockaddr_in`.
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        precondition(bind(listener, $0, length) == 0 && listen(listener, 0) == 0, "BlackHole: no port to be had")
        getsockname(listener, $0, &length)
        // Fill the queue. A connection that doesn't fit hangs, as the client's will.
        for _ in 0..<4 {
          let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
          _ = connect(filler, $0, length)
          descriptors.append(filler)
        }
      }
    }
    self.descriptors = descriptors
    url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/feed")!
  }

  func close() {
    for descriptor in descriptors { _ = Foundation.close(descriptor) }
  }
}
