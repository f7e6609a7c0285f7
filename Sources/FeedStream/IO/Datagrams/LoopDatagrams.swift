internal import CLibUV
import CLibrary

extension EventLoop {
  package func openDatagrams(at address: SocketAddress) throws(SystemError) -> any DatagramPort {
    try LoopDatagrams(at: address, on: self)
  }
}

/// A datagram socket on an event loop: libuv's `uv_udp_t`.
private final class LoopDatagrams: LoopHandle, DatagramPort {
  private(set) var address: SocketAddress
  private var deliver: ((Result<Datagram, SystemError>) -> Void)?
  /// The datagrams that wait for room: a cancelled publisher's may still wait when the next one sends.
  private var sending: [ObjectIdentifier: SendRequest] = [:]
  /// The memory for reads. A datagram may have up to 64 KiB.
  private var room = ChunkWriter(ChunkPool(blockSize: 256 * 1024, keeping: 2), least: 64 * 1024)

  init(at address: SocketAddress, on loop: EventLoop) throws(SystemError) {
    self.address = address
    do {
      try super.init(on: loop, as: .openHandle, uv_udp_t.self, uv_udp_init)
    } catch {
      throw SystemError("open a socket for", "\(address)", code: error.errno)
    }
    var code = address.withSystemAddress { uv_udp_bind(socket, $0, 0) }
    // The handle is already open if the address is invalid or can't be bound.
    guard code == 0 else { throw SystemError("receive at", "\(address)", code: code) }
    if let actual = SocketAddress({ address, length in
      code = uv_udp_getsockname(socket, address, length)
      return code
    }) {
      self.address = actual
    }
  }

  private var socket: UnsafeMutablePointer<uv_udp_t> { raw() }

  func startReading(_ deliver: @escaping (Result<Datagram, SystemError>) -> Void) {
    guard !isClosed else { return }
    self.deliver = deliver
    let code = uv_udp_recv_start(
      socket,
      { raw, _, buffer in
        let room = LoopDatagrams.of(raw).room.room()
        buffer!.pointee = uv_buf_init(
          UnsafeMutableRawPointer(room.baseAddress!).assumingMemoryBound(to: CChar.self),
          UInt32(min(room.count, 65_536)))
      },
      { raw, count, _, address, flags in
        LoopDatagrams.of(raw).hasReceived(count, from: address, isCut: flags & UV_UDP_PARTIAL.rawValue != 0)
      })
    if code < 0, code != UV_EALREADY.rawValue { fail(code) }
  }

  private func hasReceived(_ count: Int, from sender: UnsafePointer<sockaddr>?, isCut: Bool) {
    if count < 0 { return fail(Int32(count)) }
    // Without a sender, there was nothing to read: even an empty datagram has a sender.
    guard let sender else { return }
    let size =
      Int32(sender.pointee.sa_family) == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    let address = SocketAddress { address, _ in
      UnsafeMutableRawPointer(address).copyMemory(from: sender, byteCount: size)
      return 0
    }
    guard let address else { return }
    deliver?(.success(Datagram(room.take(count), address, isCut: isCut)))
  }

  private func fail(_ code: Int32) {
    stopReading()
    deliver.take()?(.failure(SystemError("read from", "\(address)", code: code)))
  }

  func stopReading() {
    guard !isClosed else { return }
    uv_udp_recv_stop(socket)
    room.release()
  }

  func send(_ datagram: Datagram, _ done: @escaping (SystemError?) -> Void) -> Bool {
    guard !isClosed else { return false }
    let code = datagram.address.withSystemAddress { address in
      withUnsafePointer(to: datagram.bytes.buffer) { uv_udp_try_send(socket, $0, 1, address) }
    }
    if code >= 0 { return true }
    if code == UV_EAGAIN.rawValue {
      let request = SendRequest(datagram)
      let code = request.start(on: socket) { [unowned self, unowned request] status in
        sending[ObjectIdentifier(request)] = nil
        done(status < 0 ? SystemError("send to", "\(datagram.address)", code: status) : nil)
      }
      if code == 0 {
        sending[ObjectIdentifier(request)] = request
        return false
      }
    }
    // Report on a later turn, as for all results.
    loop.schedule { done(SystemError("send to", "\(datagram.address)", code: code)) }
    return false
  }

  override func releaseHandler() {
    deliver = nil
    for request in sending.take().values { request.forget() }
  }
}

/// A datagram that waits for room in the system's buffer. libuv uses the request and the memory until it calls back.
private final class SendRequest {
  private let request = UnsafeMutablePointer<uv_udp_send_t>.allocate(capacity: 1)
  private let datagram: Datagram
  private var done: ((Int32) -> Void)?

  init(_ datagram: Datagram) { self.datagram = datagram }
  deinit { request.deallocate() }

  func forget() { done = nil }

  func start(on socket: UnsafeMutablePointer<uv_udp_t>, _ done: @escaping (Int32) -> Void) -> Int32 {
    self.done = done
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let code = datagram.address.withSystemAddress { address in
      withUnsafePointer(to: datagram.bytes.buffer) {
        uv_udp_send(request, socket, $0, 1, address) { request, status in
          Unmanaged<SendRequest>.fromOpaque(request!.pointee.data).takeRetainedValue().done.take()?(status)
        }
      }
    }
    if code < 0 { Unmanaged.passUnretained(self).release() }
    return code
  }
}
