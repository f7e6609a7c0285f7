internal import CLibUV
import CLibrary

/// A listening socket on an event loop.
final class LoopListener: LoopHandle, ListeningSocket {
  private(set) var address: SocketAddress
  var onReady: (() -> Void)?
  private let isInherited: Bool
  /// The file of a listener at a path.
  private var made: (path: String, identity: FileIdentity)?

  init(on loop: EventLoop, at place: SocketAddress, backlog: Int, _ port: PortSharing) throws(SystemError) {
    var (address, inherited) = (place, nil as Int32?)
    if case .inherited(let number) = place.kind { (inherited, address) = try System.listening(number, place) }
    self.address = address
    isInherited = inherited != nil
    do {
      if case .unix = address.kind {
        try super.init(on: loop, as: .openHandle, uv_pipe_t.self) { uv_pipe_init($0, $1, 0) }
      } else {
        // To share a port, the socket must have a descriptor before it is bound. libuv creates the descriptor now if
        // an address family is given.
        let family = port == .shared ? address.family : AF_UNSPEC
        try super.init(on: loop, as: .openHandle, uv_tcp_t.self) { uv_tcp_init_ex($0, $1, UInt32(family)) }
      }
    } catch {
      if let inherited { System.close(inherited) }
      throw SystemError("open a socket for", "\(place)", code: error.errno)
    }
    var code = inherited.map(open) ?? bind(port)
    // Port sharing can't be changed on an inherited socket.
    if inherited != nil, code == 0, port != .alone { code = UV_ENOTSUP.rawValue }
    if code == 0 {
      code = uv_listen(raw(), Int32(clamping: backlog)) { raw, _ in
        // libuv also calls this with an error when it can't accept a connection, because the connection was lost or no
        // descriptor is left. libuv closes such a connection.
        LoopListener.of(raw).onReady?()
      }
    }
    guard code == 0 else { throw SystemError("listen on", "\(place)", code: code) }
    if case .internet = address.kind, let actual = SocketAddress({ uv_tcp_getsockname(raw(), $0, $1) }) {
      self.address = actual
    }
  }

  /// Takes over a bound descriptor, which is closed with the handle, or immediately if the handle can't use it.
  private func open(_ inherited: Int32) -> Int32 {
    let code =
      if case .unix = address.kind { uv_pipe_open(raw(), inherited) } else { uv_tcp_open(raw(), inherited) }
    if code != 0 { System.close(inherited) }
    return code
  }

  private func bind(_ port: PortSharing) -> Int32 {
    if case .unix(let path) = address.kind {
      guard port == .alone else { return UV_ENOTSUP.rawValue }
      var code = address.withSystemPath(path) { uv_pipe_bind(raw(), $0) }
      // libuv reports a missing folder in the same way as one without permission.
      if code == UV_EACCES.rawValue, access(split(path).folder, F_OK) != 0 { code = -errno }
      if code == 0 {
        // libuv would remove the path at the end, whatever is there by then.
        clibuv_forget_path(handle)
        made = (try? SystemFiles.shared.status(of: path)).map { (path, $0.identity) }
      }
      return code
    }
    var code: Int32 = port == .shared ? clibuv_share_port(handle) : 0
    if code == 0 { code = address.withSystemAddress { uv_tcp_bind(raw(), $0, 0) } }
    if code == 0, port == .first { code = clibuv_share_port(handle) }
    return code
  }

  func accept() -> (any ByteChannel)? {
    guard !isClosed, let channel = try? LoopChannel(on: loop, for: address) else { return nil }
    guard uv_accept(raw(), channel.raw()) == 0 else {
      channel.close()
      return nil
    }
    if case .internet = address.kind, let peer = SocketAddress({ uv_tcp_getpeername(channel.raw(), $0, $1) }) {
      channel.connected(to: peer)
    }
    return channel
  }

  func ignoreNewConnections() -> Bool {
    // Other processes may still listen on an inherited socket.
    guard !isClosed, !isInherited, case .internet = address.kind else { return false }
    return clibuv_ignore_new_connections(handle) == 0
  }

  override func close() {
    // While the socket is open, its file's identity belongs to no other file.
    if !isClosed, let made, (try? SystemFiles.shared.status(of: made.path))?.identity == made.identity {
      SystemFiles.shared.remove(made.path)
    }
    // A child process has a copy of the descriptor for a moment while it is being started: the system would still accept
    // connections, and then break them.
    if !isClosed, !isInherited, case .internet = address.kind { clibuv_stop_listening(handle) }
    super.close()
  }

  override func releaseHandler() { onReady = nil }
}

extension SocketAddress {
  fileprivate var family: Int32 {
    if case .internet(let host, _) = kind, host.utf8.contains(UInt8(ascii: ":")) { AF_INET6 } else { AF_INET }
  }
}
