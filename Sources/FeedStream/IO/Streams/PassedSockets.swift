// Imported for the socket types, which one of the C libraries declares in a separate module.
internal import CLibUV
import CLibrary

extension SocketAddress {
  /// A listening socket that the process has inherited, identified by its descriptor.
  ///
  /// Only listeners accept such an address; the listener's `address` is then the socket's address. The descriptor stays
  /// open when a listener closes: new connections wait in the backlog, for another listener or another process.
  /// Programs that this process starts don't inherit the descriptor.
  public static func inherited(_ descriptor: Int32) -> SocketAddress { Self(.inherited(descriptor)) }

  /// The listening sockets that the service manager passed to this process (systemd's socket activation,
  /// `sd_listen_fds(3)`).
  ///
  ///     let passed = try SocketAddress.passed()
  ///     let server = try HTTPServer(at: passed.isEmpty ? [.internet("127.0.0.1", port: 8080)] : passed, on: loop)
  ///
  /// The `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES` environment variables describe the sockets. The sockets are
  /// returned in the order of the unit's `ListenStream=` lines.
  ///
  /// - Parameter name: the name of the sockets to return (a unit's `FileDescriptorName=`); all sockets by default.
  /// - Returns: an empty array if none were passed, or if they were passed to another process.
  /// - Throws: `EINVAL` if one of the variables is invalid.
  public static func passed(named name: String? = nil) throws(SystemError) -> [SocketAddress] {
    try PassedSockets.read(process: getpid()) { getenv($0).map { String(cString: $0) } }
      .filter { name == nil || $0.name == name }
      .map { .inherited($0.descriptor) }
  }
}

/// The sockets of a process that a service manager has started.
package enum PassedSockets {
  package struct Socket: Equatable {
    package var descriptor: Int32
    package var name: String
  }

  /// The first descriptor, after the standard streams.
  private static let first: Int32 = 3

  /// - Parameters:
  ///   - process: the ID of this process.
  ///   - variable: reads an environment variable.
  package static func read(
    process: Int32, _ variable: (String) -> String?
  ) throws(SystemError) -> [Socket] {
    guard let owner = variable("LISTEN_PID") else { return [] }
    guard try number(owner, "LISTEN_PID") == process, let text = variable("LISTEN_FDS") else { return [] }
    let count = try number(text, "LISTEN_FDS")
    guard count <= Int32.max - first else { throw SystemError("read", "LISTEN_FDS=\(text)", code: EINVAL) }
    guard count > 0 else { return [] }
    // The default name, as in `sd_listen_fds_with_names(3)`.
    var names = Array(repeating: "unknown", count: Int(count))
    if let text = variable("LISTEN_FDNAMES") {
      names = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard names.count == count else { throw SystemError("read", "LISTEN_FDNAMES=\(text)", code: EINVAL) }
    }
    return names.enumerated().map { Socket(descriptor: first + Int32($0), name: $1) }
  }

  private static func number(_ text: String, _ name: String) throws(SystemError) -> Int32 {
    guard let number = Int32(text), number >= 0 else { throw SystemError("read", "\(name)=\(text)", code: EINVAL) }
    return number
  }
}

extension System {
  /// Duplicates the descriptor of a listening socket that the process has inherited, and reads the socket's address.
  static func listening(
    _ number: Int32, _ place: SocketAddress
  ) throws(SystemError) -> (descriptor: Int32, address: SocketAddress) {
    func fail(_ code: Int32) -> SystemError { SystemError("listen on", "\(place)", code: code) }
    func option(_ name: Int32) throws(SystemError) -> Int32 {
      var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      guard getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 else { throw fail(errno) }
      return value
    }
    guard try option(SO_ACCEPTCONN) != 0 else { throw fail(EINVAL) }
    guard try option(SO_TYPE) == streamType else { throw fail(EPROTOTYPE) }
    guard let address = SocketAddress(listening: number) else { throw fail(EAFNOSUPPORT) }
    let descriptor = fcntl(number, F_DUPFD_CLOEXEC, 3)
    guard descriptor >= 0 else { throw fail(errno) }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return (descriptor, address)
  }

  static var streamType: Int32 {
    #if canImport(Glibc)
      Int32(SOCK_STREAM.rawValue)
    #else
      SOCK_STREAM
    #endif
  }
}

extension SocketAddress {
  /// The address on which a socket listens; `nil` for an unsupported family. The name of an abstract Unix socket begins
  /// with `@`.
  fileprivate init?(listening descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isRead = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isRead else { return nil }
    switch Int32(storage.ss_family) {
    case AF_INET, AF_INET6:
      let code: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32 = { address, _ in
        withUnsafeBytes(of: &storage) {
          UnsafeMutableRawPointer(address).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
        return 0
      }
      self.init(code)
    case AF_UNIX:
      let path = withUnsafeBytes(of: &storage) { bytes in
        Array(bytes[MemoryLayout<sockaddr_un>.offset(of: \.sun_path)!..<min(Int(length), bytes.count)])
      }
      let isAbstract = path.first == 0
      let name = isAbstract ? path.dropFirst() : path.prefix { $0 != 0 }
      self = .unix((isAbstract ? "@" : "") + String(decoding: name, as: UTF8.self))
    default: return nil
    }
  }
}
