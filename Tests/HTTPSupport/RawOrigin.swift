import Foundation

/// A server on loopback sockets that responds as a script decides: with arbitrary bytes, valid or invalid.
///
/// Every connection runs the script on its own thread. The script returns to close the connection. A test that creates
/// an origin must stop it: `defer { origin.stop() }`.
final class RawOrigin: Sendable {
  typealias Script = @Sendable (Connection) throws -> Void

  let address: String
  let port: UInt16
  private let listener: Int32
  /// Bound to the same port, but doesn't listen: after the origin has stopped, the port refuses connections and isn't
  /// given to another server.
  private let holder: Int32
  private let state = Guarded(State())
  // Entered by the accepting thread and by every connection's.
  private let threads = DispatchGroup()

  /// A replacement for `Mutex`, whose waits the thread sanitizer doesn't detect: the guarded value would look like a
  /// race.
  // @unchecked: the value is used only under the lock.
  private final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R { try lock.withLock { try body(&value) } }
  }

  private struct State {
    var accepted = 0
    var open: Set<Int32> = []
    var isStopped = false
  }

  /// - Parameters:
  ///   - address: a loopback address: any address in 127.0.0.0/8.
  ///   - backlog: the number of connections that may wait to be accepted.
  init(at address: String = "127.0.0.1", backlog: Int32 = 128, _ script: @escaping Script) {
    self.address = address
    (listener, holder, port) = Self.listen(address, backlog)
    let listener = listener
    threads.enter()
    Thread { [self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { break }
        // A child process must not keep the connection open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        serve(descriptor, script)
      }
      threads.leave()
    }.startSmall()
  }

  deinit { close(holder) }

  /// The number of connections so far.
  var accepted: Int { state.withLock { $0.accepted } }

  func url(_ path: String = "/feed") -> URL { URL(string: "http://\(address):\(port)\(path)")! }

  /// Breaks the open connections, and returns when all threads have ended.
  func stop() {
    let isFirst = state.withLock { state in
      defer { state.isStopped = true }
      for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
      return !state.isStopped
    }
    guard isFirst else { return }
    shutdown(listener, Int32(SHUT_RDWR))
    threads.wait()
    close(listener)
  }

  private func serve(_ descriptor: Int32, _ script: @escaping Script) {
    let isStopped = state.withLock { state in
      state.accepted += 1
      state.open.insert(descriptor)
      return state.isStopped
    }
    if isStopped { shutdown(descriptor, Int32(SHUT_RDWR)) }
    threads.enter()
    Thread { [self] in
      // A broken connection ends its script; the test checks the client's reaction.
      try? script(Connection(descriptor: descriptor))
      state.withLock { state in
        state.open.remove(descriptor)
        _ = close(descriptor)
      }
      threads.leave()
    }.startSmall()
  }

  private static func listen(
    _ host: String, _ backlog: Int32
  ) -> (listener: Int32, holder: Int32, port: UInt16) {
    let sockets = (0..<2).map { _ in
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      // Only so may both be bound to one port.
      var one: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      return descriptor
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr(host)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // Calls that take a `sockaddr` accept a `sockaddr_in`.
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        precondition(bind(sockets[0], $0, length) == 0, "RawOrigin: no port to be had on \(host)")
        getsockname(sockets[0], $0, &length)
        precondition(bind(sockets[1], $0, length) == 0, "RawOrigin: cannot hold the port")
        precondition(Foundation.listen(sockets[0], backlog) == 0, "RawOrigin: cannot listen")
      }
    }
    return (sockets[0], sockets[1], UInt16(bigEndian: address.sin_port))
  }
}

extension RawOrigin {
  /// The connection is broken, so the script ends.
  struct Broken: Error {}

  /// The server's end of one connection.
  struct Connection: Sendable {
    let descriptor: Int32

    /// Reads up to the end of a request's header.
    ///
    /// - Throws: `Broken` when the client closes before that.
    @discardableResult func readRequest() throws -> Request {
      var text = ""
      while !text.hasSuffix("\r\n\r\n") {
        var byte: UInt8 = 0
        guard recv(descriptor, &byte, 1, 0) == 1 else { throw Broken() }
        text.unicodeScalars.append(UnicodeScalar(byte))
      }
      return Request(text: text)
    }

    func send(_ text: String) throws { try send(Data(text.utf8)) }

    func send(_ data: Data) throws {
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
          Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { throw Broken() }
        rest = rest.dropFirst(count)
      }
    }

    /// Waits until the client has closed its end.
    func waitForClose() {
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, 0) > 0 {}
    }

    /// Makes the connection end with a reset when the script returns.
    func reset() {
      var option = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
  }

  struct Request: Sendable {
    let text: String

    var path: String { String(text.split(separator: " ").dropFirst().first ?? "") }

    /// The value of a header field, or `nil`.
    subscript(name: String) -> String? {
      for line in text.split(separator: "\r\n") where line.lowercased().hasPrefix(name.lowercased() + ":") {
        return line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
      }
      return nil
    }
  }
}

// MARK: - Valid responses

extension RawOrigin {
  /// Responds to every request; connections stay open between requests.
  static func answering(
    at address: String = "127.0.0.1", _ answer: @escaping @Sendable (Request) -> Data
  ) -> RawOrigin {
    RawOrigin(at: address) { connection in
      while true { try connection.send(answer(connection.readRequest())) }
    }
  }

  /// Responds to every request with `data`, and closes the connection.
  static func sending(_ data: Data) -> RawOrigin {
    RawOrigin { connection in
      try connection.readRequest()
      try connection.send(data)
    }
  }

  static func sending(_ text: String) -> RawOrigin { sending(Data(text.utf8)) }

  /// A complete response.
  static func answer(_ status: String = "200 OK", _ fields: [String] = [], _ body: Data = Data()) -> Data {
    let header = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + fields
    return Data((header.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
  }
}

extension Thread {
  fileprivate func startSmall() {
    stackSize = 256 << 10
    start()
  }
}
