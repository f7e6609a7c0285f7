internal import CLibUV
import CLibrary

extension EventLoop: IOHost {
  package func listen(
    at address: SocketAddress, backlog: Int, port: PortSharing
  ) throws(SystemError) -> any ListeningSocket {
    try LoopListener(on: self, at: address, backlog: backlog, port)
  }

  package func connect(
    to address: SocketAddress, _ done: @escaping (Result<any ByteChannel, SystemError>) -> Void
  ) -> any Cancellable {
    let attempt = ConnectRequest(done)
    do {
      try attempt.start(on: self, to: address)
    } catch {
      // Report on a later turn, as for all results.
      schedule { attempt.finish(.failure(error)) }
    }
    return attempt
  }

  package var fileSystem: any FileSystem { SystemFiles.shared }

  package func watch(
    _ folder: String, _ announce: @escaping (FolderHint) -> Void
  ) throws(SystemError) -> any Cancellable {
    try FolderWatch(folder, on: self, announce)
  }

  package func spawn(_ subprocess: Subprocess) throws(SystemError) -> any ChildProcess {
    try LoopProcess(subprocess, on: self)
  }
}

extension EventLoop {
  /// The memory for the reads of all connections on the loop. The reads can share the memory, because each read is
  /// complete before the next begins.
  var reading: SharedReading {
    if let reading = shared { return unsafeDowncast(reading, to: SharedReading.self) }
    let reading = SharedReading()
    shared = reading
    return reading
  }
}

extension EventLoop {
  /// The watches of folders on the loop.
  var folderWatches: FolderWatches {
    if let watches = sharedByWatches { return unsafeDowncast(watches, to: FolderWatches.self) }
    let watches = FolderWatches()
    sharedByWatches = watches
    return watches
  }
}

/// The memory for reads of all connections of a loop. A waiting connection uses no memory.
final class SharedReading {
  @exclusivity(unchecked)
  private var writer = ChunkWriter(ChunkPool(blockSize: 64 * 1024, keeping: 16), least: 4 * 1024)
  /// The number of reads on the loop so far.
  @exclusivity(unchecked) private(set) var number = 0

  func room() -> UnsafeMutableBufferPointer<UInt8> { writer.room() }
  func take(_ count: Int) -> Chunk {
    number &+= 1
    return writer.take(count)
  }
}

extension LoopChannel {
  /// Makes an unconnected socket for `address`.
  convenience init(on loop: EventLoop, for address: SocketAddress) throws(SystemError) {
    switch address.kind {
    case .internet: try self.init(on: loop, to: address, uv_tcp_t.self, uv_tcp_init)
    case .unix: try self.init(on: loop, to: address, uv_pipe_t.self) { uv_pipe_init($0, $1, 0) }
    case .inherited: throw SystemError("connect to", "\(address)", code: EINVAL)
    }
  }
}

extension SocketAddress {
  /// The error number with which the system refuses any use of this address; `nil` if the address is valid.
  package var problem: Int32? {
    let code: Int32 =
      switch kind {
      case .internet: withSystemAddress { _ in 0 }
      case .unix(let path): withSystemPath(path) { _ in 0 }
      case .inherited: UV_EINVAL.rawValue
      }
    return code == 0 ? nil : code
  }

  /// Calls `body` with the address as a `sockaddr`.
  func withSystemAddress(_ body: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
    // The system would end the host at a null byte.
    guard case .internet(let host, let port) = kind, (0...65_535).contains(port), !host.utf8.contains(0) else {
      return UV_EINVAL.rawValue
    }
    var four = sockaddr_in()
    if uv_ip4_addr(host, Int32(port), &four) == 0 {
      return withUnsafePointer(to: four) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
    var six = sockaddr_in6()
    let code = uv_ip6_addr(host, Int32(port), &six)
    guard code == 0 else { return code }
    return withUnsafePointer(to: six) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
  }

  /// Calls `body` with the path of a socket, unless the path is invalid: libuv would truncate a path that is too long,
  /// and the system would choose a name if the path is empty.
  func withSystemPath(_ path: String, _ body: (UnsafePointer<CChar>) -> Int32) -> Int32 {
    if path.isEmpty || path.utf8.contains(0) { return UV_EINVAL.rawValue }
    // The size includes the null byte at the end of the path.
    let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    return path.utf8.count < room ? path.withCString(body) : UV_ENAMETOOLONG.rawValue
  }

  /// Makes an address from a libuv call that writes one; `nil` if the call fails.
  init?(_ read: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32) {
    var storage = sockaddr_storage()
    var length = Int32(MemoryLayout<sockaddr_storage>.size)
    let kind: Kind? = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard read(address, &length) == 0 else { return nil }
        if Int32(address.pointee.sa_family) == AF_INET6 {
          return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
            var name = Self.text { uv_ip6_name(address, $0.baseAddress, $0.count) }
            // A link-local address is complete only with its interface.
            if address.pointee.sin6_scope_id != 0 { name += "%" + Self.interface(address.pointee.sin6_scope_id) }
            return .internet(host: name, port: Int(UInt16(bigEndian: address.pointee.sin6_port)))
          }
        }
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          let name = Self.text { uv_ip4_name(address, $0.baseAddress, $0.count) }
          return .internet(host: name, port: Int(UInt16(bigEndian: address.pointee.sin_port)))
        }
      }
    }
    guard let kind else { return nil }
    self.init(kind)
  }

  /// The name of a network interface, or its number if it has no name.
  private static func interface(_ number: UInt32) -> String {
    let name = text { if_indextoname(number, $0.baseAddress) == nil ? -1 : 0 }
    return name.isEmpty ? "\(number)" : name
  }

  /// The null-terminated text that `write` writes. This method doesn't allocate a buffer, because it is called for each
  /// accepted connection.
  private static func text(_ write: (UnsafeMutableBufferPointer<CChar>) -> Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) {
      write($0) == 0 ? String(cString: $0.baseAddress!) : ""
    }
  }
}

/// An attempt to connect. libuv uses the request until it calls back, even if the socket is closed.
private final class ConnectRequest: Cancellable {
  private let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
  private var channel: LoopChannel?
  private var done: ((Result<any ByteChannel, SystemError>) -> Void)?

  init(_ done: @escaping (Result<any ByteChannel, SystemError>) -> Void) { self.done = done }
  deinit { request.deallocate() }

  func start(on loop: EventLoop, to address: SocketAddress) throws(SystemError) {
    let channel = try LoopChannel(on: loop, for: address)
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let callBack: uv_connect_cb = { request, status in
      Unmanaged<ConnectRequest>.fromOpaque(request!.pointee.data).takeRetainedValue().hasConnected(status)
    }
    let code: Int32
    switch address.kind {
    case .internet: code = address.withSystemAddress { uv_tcp_connect(request, channel.raw(), $0, callBack) }
    case .unix(let path):
      code = address.withSystemPath(path) {
        uv_pipe_connect(request, channel.raw(), $0, callBack)
        return 0
      }
    case .inherited: code = UV_EINVAL.rawValue
    }
    guard code == 0 else {
      Unmanaged.passUnretained(self).release()
      throw SystemError("connect to", "\(address)", code: code)
    }
    self.channel = channel
  }

  private func hasConnected(_ status: Int32) {
    guard let channel = channel.take() else { return }
    // A closing loop closes the socket, and libuv reports this as a failure.
    guard !channel.loop.isClosed else {
      done = nil
      return
    }
    if status < 0 {
      finish(.failure(SystemError("connect to", "\(channel.peer)", code: status)))
    } else {
      finish(.success(channel))
    }
  }

  func finish(_ result: Result<any ByteChannel, SystemError>) { done.take()?(result) }

  func cancel() {
    done = nil
    channel.take()?.close()
  }
}
