internal import CLibUV
import CLibrary

extension EventLoop {
  package func lookUp(
    _ host: String, port: Int, _ done: @escaping (Result<[SocketAddress], SystemError>) -> Void
  ) -> any Cancellable {
    checkOwner()
    precondition(!isClosed, "EventLoop: a host cannot be looked up on a closed loop; do it before close()")
    let request = LookUpRequest(host, port, done)
    request.start(on: self)
    return request
  }
}

/// A lookup on the thread pool. libuv uses the request until it calls back.
private final class LookUpRequest: Cancellable {
  private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
  private let host: String
  private let port: Int
  private var done: ((Result<[SocketAddress], SystemError>) -> Void)?

  init(_ host: String, _ port: Int, _ done: @escaping (Result<[SocketAddress], SystemError>) -> Void) {
    self.host = host
    self.port = port
    self.done = done
    // `uv_cancel` reads the request, even if libuv has refused the host without touching the request.
    request.initialize(to: uv_getaddrinfo_t())
  }

  deinit { request.deallocate() }

  func start(on loop: EventLoop) {
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = System.streamType
    let code = uv_getaddrinfo(
      loop.uv, request,
      { request, status, list in
        let ended = Unmanaged<LookUpRequest>.fromOpaque(request!.pointee.data).takeRetainedValue()
        EventLoop.of(request!.pointee.loop).whenClosed(ObjectIdentifier(ended), nil)
        ended.hasEnded(status, list)
      }, host, nil, &hints)
    if code < 0 {
      Unmanaged.passUnretained(self).release()
      // Report on a later turn, as for all results.
      loop.schedule { self.hasEnded(code, nil) }
    } else {
      loop.whenClosed(ObjectIdentifier(self)) { self.cancel() }
    }
  }

  private func hasEnded(_ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?) {
    defer { uv_freeaddrinfo(list) }
    guard let done = done.take() else { return }
    guard status == 0 else { return done(.failure(SystemError("look up", host, code: status))) }
    var addresses: [SocketAddress] = []
    var entry = list
    while let found = entry {
      let address = SocketAddress { address, length in
        address.withMemoryRebound(to: sockaddr_storage.self, capacity: 1) {
          UnsafeMutableRawPointer($0).copyMemory(from: found.pointee.ai_addr, byteCount: Int(found.pointee.ai_addrlen))
        }
        return 0
      }
      if case .internet(let host, _)? = address?.kind {
        let address = SocketAddress.internet(host, port: port)
        if !addresses.contains(address) { addresses.append(address) }
      }
      entry = found.pointee.ai_next
    }
    done(.success(addresses))
  }

  func cancel() {
    guard done != nil else { return }
    done = nil
    // `uv_cancel` succeeds only if the lookup has not begun. Either way, libuv calls back on the loop.
    _ = request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { uv_cancel($0) }
  }
}
