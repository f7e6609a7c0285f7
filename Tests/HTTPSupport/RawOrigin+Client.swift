import Foundation
import TestSupport

extension RawOrigin.Connection {
  static func open(to port: Int) throws -> RawOrigin.Connection {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard withLoopbackAddress(port: port, { connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      throw RawOrigin.Broken()
    }
    return RawOrigin.Connection(descriptor: descriptor)
  }

  /// Receives some bytes, as they arrive.
  func receive() throws -> Data {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { throw RawOrigin.Broken() }
    return Data(bytes[..<count])
  }

  /// Passes bytes on, both ways, until one side ends.
  func exchange(with other: RawOrigin.Connection) throws {
    while true {
      var ready = [self, other].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      guard poll(&ready, 2, -1) > 0 else { return }
      if ready[0].revents != 0 { try other.send(receive()) }
      if ready[1].revents != 0 { try send(other.receive()) }
    }
  }

  func receive(exactly count: Int) throws -> Data {
    var bytes = [UInt8](repeating: 0, count: count)
    guard count == 0 || recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count else {
      throw RawOrigin.Broken()
    }
    return Data(bytes)
  }
}
