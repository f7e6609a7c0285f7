#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A client on its own socket whose calls block: for tests in which servers have their own threads.
final class BlockingClient {
  private let socket: Int32
  private var received: [UInt8] = []

  /// Connects to this machine.
  ///
  /// - Returns: `nil` when no server listens.
  init?(port: Int) {
    #if canImport(Glibc)
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { return nil }
  }

  deinit { close(socket) }

  func send(_ text: String) {
    var left = Array(text.utf8)[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      left = left.dropFirst(count)
    }
  }

  /// Waits for the next text up to and including `mark`; if the connection ends first, returns the text without it.
  func text(upTo mark: String) -> String {
    let mark = Array(mark.utf8)
    while true {
      if let end = received.indices.first(where: { received[$0...].starts(with: mark) }) {
        defer { received.removeFirst(end + mark.count) }
        return String(decoding: received[..<(end + mark.count)], as: UTF8.self)
      }
      guard receive() else {
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
      }
    }
  }

  /// Waits for the end of the connection.
  ///
  /// - Returns: the text that arrives before that.
  func rest() -> String {
    while receive() {}
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  /// - Returns: false at the end.
  private func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = read(socket, &buffer, buffer.count)
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }
}

extension BlockingClient {
  /// Sends a request and waits for the response: its body, which ends with a line break.
  func ask(_ path: String) -> String {
    send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    _ = text(upTo: "\r\n\r\n")
    return text(upTo: "\n")
  }
}
