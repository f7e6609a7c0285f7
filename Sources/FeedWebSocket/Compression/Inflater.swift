internal import CZlib
internal import FeedStream
internal import Synchronization

/// The state of one zlib decompressor.
// @unchecked: it has one user at a time, which has taken it out of the pool or created it.
final class Inflater: @unchecked Sendable {
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var input = Chunk()

  init() {
    stream.initialize(to: z_stream())
    // The largest window reads data compressed with any window; a negative number means data without a header.
    let code = czlib_begin_inflate(stream, -15)
    precondition(code == Z_OK, "WebSocket: zlib is out of memory")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  func reset() {
    input = Chunk()
    inflateReset(stream)
  }

  func feed(_ chunk: Chunk) { input = chunk }

  /// - Returns: the number of bytes written to `room`, and true if there is no more output.
  func inflate(to room: UnsafeMutableRawPointer, _ capacity: Int) throws(ProtocolFailure) -> (count: Int, isDone: Bool)
  {
    var (written, left) = (0, input.count)
    let code = input.withUnsafeBytes { bytes -> Int32 in
      czlib_set_buffers(stream, bytes.baseAddress, uInt(bytes.count), room, uInt(capacity))
      let code = CZlib.inflate(stream, Z_SYNC_FLUSH)
      (written, left) = (capacity - Int(stream.pointee.avail_out), Int(stream.pointee.avail_in))
      return code
    }
    input = input[(input.count - left)..<input.count]
    switch code {
    case Z_OK: return (written, stream.pointee.avail_out > 0)
    case Z_BUF_ERROR: return (written, true)
    case Z_STREAM_END:
      // A sender may end a message with a final block (RFC 7692, 7.2.3.4); the window must be kept.
      inflateResetKeep(stream)
      return (written, input.isEmpty)
    default: throw .badCompression
    }
  }

  /// - Throws: if the input doesn't end at the beginning of a block.
  func end() throws(ProtocolFailure) {
    let (bits, isBetweenBlocks) = (stream.pointee.data_type & 7, stream.pointee.data_type & 128 != 0)
    guard isBetweenBlocks, bits == 0 else { throw .badCompression }
  }
}

/// The decompression for one socket, with the socket's own window or with one that is borrowed for each message.
final class InflateContext {
  private let keepsWindow: Bool
  private var inflater: Inflater?

  /// The decompressors that no message is using. A few suffice, because a message uses one only from its first byte to
  /// its last.
  private static let spare = Mutex<[Inflater]>([])

  init(keepsWindow: Bool) { self.keepsWindow = keepsWindow }

  deinit { release() }

  func feed(_ chunk: Chunk) {
    let current = inflater ?? (keepsWindow ? nil : Self.spare.withLock { $0.popLast() }) ?? Inflater()
    inflater = current
    current.feed(chunk)
  }

  func inflate(to room: UnsafeMutableRawPointer, _ capacity: Int) throws(ProtocolFailure) -> (count: Int, isDone: Bool)
  {
    guard let inflater else { return (0, true) }
    return try inflater.inflate(to: room, capacity)
  }

  func end() throws(ProtocolFailure) {
    try inflater?.end()
    if !keepsWindow { release() }
  }

  private func release() {
    guard !keepsWindow, let inflater else { return }
    self.inflater = nil
    inflater.reset()
    Self.spare.withLock { if $0.count < 8 { $0.append(inflater) } }
  }
}
