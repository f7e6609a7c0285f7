internal import CLibUV

/// A TCP connection, a pipe or a terminal on an event loop: libuv's `uv_stream_t`.
final class LoopChannel: LoopHandle, ByteChannel {
  package private(set) var peer: SocketAddress
  @exclusivity(unchecked) private var deliver: ((ReadResult) -> Void)?
  @exclusivity(unchecked) private var writing: WriteRequest?
  /// The loop's read count when this channel last wrote immediately.
  @exclusivity(unchecked) private var wroteAt = 0
  private var shutdown: ShutdownRequest?
  /// Called when writing has ended. A cancelled publisher's closure may still wait when the next one ends writing.
  private var whenEnded: [(SystemError?) -> Void] = []

  /// - Parameter start: initializes libuv's structure.
  init<Raw>(
    on loop: EventLoop, to peer: SocketAddress, _ type: Raw.Type,
    _ start: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutablePointer<Raw>) -> Int32
  ) throws(SystemError) {
    self.peer = peer
    _ = System.ignoresBrokenPipes
    do {
      try super.init(on: loop, as: .openHandle, type, start)
    } catch {
      throw SystemError("open a socket for", "\(peer)", code: error.errno)
    }
  }

  /// Sets the peer of a connection, which is known only after the connection has been accepted.
  func connected(to peer: SocketAddress) { self.peer = peer }

  private var stream: UnsafeMutablePointer<uv_stream_t> { raw() }

  // MARK: Reading

  package func startReading(_ deliver: @escaping (ReadResult) -> Void) {
    guard !isClosed else { return }
    self.deliver = deliver
    let code = uv_read_start(
      stream,
      { raw, _, buffer in
        // Called right before the read, so that a waiting connection holds no memory.
        let room = LoopChannel.of(raw).loop.reading.room()
        buffer!.pointee = uv_buf_init(
          UnsafeMutableRawPointer(room.baseAddress!).assumingMemoryBound(to: CChar.self), UInt32(room.count))
      },
      { raw, count, _ in LoopChannel.of(raw).hasRead(count) })
    if code < 0, code != UV_EALREADY.rawValue { end(.failure(SystemError("read from", "\(peer)", code: code))) }
  }

  package func stopReading() {
    guard !isClosed else { return }
    uv_read_stop(stream)
  }

  package var hasInput: Bool { !isClosed && clibuv_has_input(handle) != 0 }

  private func hasRead(_ count: Int) {
    switch count {
    case 0: break  // EAGAIN: there was nothing to read.
    case 1...: deliver?(.chunk(loop.reading.take(count)))
    case Int(UV_EOF.rawValue): end(.end)
    default: end(.failure(SystemError("read from", "\(peer)", code: Int32(count))))
    }
  }

  private func end(_ result: ReadResult) {
    stopReading()
    deliver.take()?(result)
  }

  // MARK: Writing

  package func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    guard !isClosed else { return }
    let request = WriteRequest(chunks)
    // A cancelled publisher's write may still be running.
    request.earlier = writing
    let code = request.start(on: stream) { [unowned self, unowned request] status in
      request.earlier = nil
      if writing === request { writing = nil }
      done(status < 0 ? SystemError("write to", "\(peer)", code: status) : nil)
    }
    if code < 0 {
      // Report on a later turn, as for all results.
      loop.schedule { done(SystemError("write to", "\(self.peer)", code: code)) }
    } else {
      writing = request
    }
  }

  package func writeNow(_ chunks: [Chunk]) -> Int {
    guard !isClosed, writing == nil, chunks.count <= 16 else { return 0 }
    return withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: chunks.count) { buffers in
      for (index, chunk) in chunks.enumerated() { buffers.initializeElement(at: index, to: chunk.buffer) }
      // Ignore an error: the write that follows fails in the same way and reports it.
      return max(Int(uv_try_write(stream, buffers.baseAddress, UInt32(chunks.count))), 0)
    }
  }

  package func writeNow(_ chunk: Chunk) -> Int {
    guard !isClosed, writing == nil else { return 0 }
    return withUnsafePointer(to: chunk.buffer) { max(Int(uv_try_write(stream, $0, 1)), 0) }
  }

  package func writeFirst(_ chunk: Chunk) -> Int {
    let number = loop.reading.number
    guard number != wroteAt else { return 0 }
    wroteAt = number
    return writeNow(chunk)
  }

  package func announceEnd() {
    guard !isClosed, shutdown == nil, writing == nil else { return }
    clibuv_end_writing(handle)
  }

  package func breakOffAtClose() {
    if !isClosed { clibuv_reset_at_close(handle) }
  }

  package func endWriting(_ done: @escaping (SystemError?) -> Void) {
    guard !isClosed else { return }
    whenEnded.append(done)
    guard shutdown == nil else { return }
    let request = ShutdownRequest()
    let code = request.start(on: stream) { [unowned self] status in
      shutdown = nil
      // Ignore `ENOTCONN`: the connection is already closed, so there is nothing to announce.
      let isFailure = status < 0 && status != UV_ENOTCONN.rawValue
      hasEnded(isFailure ? SystemError("end writing to", "\(peer)", code: status) : nil)
    }
    if code < 0 { loop.schedule { self.hasEnded(nil) } } else { shutdown = request }
  }

  private func hasEnded(_ error: SystemError?) { for done in whenEnded.take() { done(error) } }

  override func releaseHandler() {
    deliver = nil
    writing?.forget()
    shutdown?.forget()
    writing = nil
    shutdown = nil
    whenEnded = []
  }
}

/// A running write. libuv uses the request and the chunks' memory until it calls back, even if the handle is closed.
private final class WriteRequest {
  private let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
  private let chunks: [Chunk]
  private var done: ((Int32) -> Void)?
  /// The write that was running when this one began.
  var earlier: WriteRequest?

  init(_ chunks: [Chunk]) { self.chunks = chunks }
  deinit { request.deallocate() }

  func forget() {
    done = nil
    earlier.take()?.forget()
  }

  func start(on stream: UnsafeMutablePointer<uv_stream_t>, _ done: @escaping (Int32) -> Void) -> Int32 {
    self.done = done
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    // libuv copies the array of buffers; `chunks` retains their memory.
    let buffers = chunks.map(\.buffer)
    let code = uv_write(request, stream, buffers, UInt32(buffers.count)) { request, status in
      Unmanaged<WriteRequest>.fromOpaque(request!.pointee.data).takeRetainedValue().done.take()?(status)
    }
    if code < 0 { Unmanaged.passUnretained(self).release() }
    return code
  }
}

extension Chunk {
  /// libuv's view of the memory; valid as long as the chunk is retained.
  var buffer: uv_buf_t {
    withUnsafeBytes {
      // Not `uv_buf_init`, which takes only lengths below 4 GiB.
      uv_buf_t(
        base: UnsafeMutableRawPointer(mutating: $0.baseAddress!).assumingMemoryBound(to: CChar.self), len: $0.count)
    }
  }
}

private final class ShutdownRequest {
  private let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
  private var done: ((Int32) -> Void)?

  deinit { request.deallocate() }

  func forget() { done = nil }

  func start(on stream: UnsafeMutablePointer<uv_stream_t>, _ done: @escaping (Int32) -> Void) -> Int32 {
    self.done = done
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let code = uv_shutdown(request, stream) { request, status in
      Unmanaged<ShutdownRequest>.fromOpaque(request!.pointee.data).takeRetainedValue().done.take()?(status)
    }
    if code < 0 { Unmanaged.passUnretained(self).release() }
    return code
  }
}
