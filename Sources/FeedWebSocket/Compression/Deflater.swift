internal import CZlib
internal import FeedStream
internal import Synchronization

/// The state of one zlib compressor.
// @unchecked: it has one user at a time, which has taken it out of the pool or created it.
final class Deflater: @unchecked Sendable {
  struct Kind: Hashable {
    let windowBits: Int
    let level: Int
  }

  let kind: Kind
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  init(_ kind: Kind) {
    self.kind = kind
    stream.initialize(to: z_stream())
    let code = czlib_begin_raw_deflate(stream, Int32(kind.level), Int32(kind.windowBits), 8)
    precondition(code == Z_OK, "WebSocket: zlib is out of memory")
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  func reset() { deflateReset(stream) }

  /// Compresses part of a message and flushes the output, so that the peer can decompress all of that part.
  ///
  /// - Parameter isLast: true to omit the bytes that end every message (RFC 7692, 7.2.1).
  func deflate(_ part: Chunk, isLast: Bool) -> Chunk {
    // Space for data that doesn't compress, and for the flush.
    let most = Int(deflateBound(stream, uLong(part.count))) + 64
    return Chunk(capacity: most) { room in
      var written = 0
      part.withUnsafeBytes { bytes in
        czlib_set_buffers(stream, bytes.baseAddress, uInt(bytes.count), room.baseAddress, uInt(most))
        _ = CZlib.deflate(stream, Z_SYNC_FLUSH)
        written = most - Int(stream.pointee.avail_out)
      }
      precondition(stream.pointee.avail_in == 0 && written >= 5, "WebSocket: zlib needs more room than it predicted")
      return isLast ? written - 4 : written
    }
  }
}

/// The compression for one socket, with the socket's own window or with one that is borrowed for each message.
final class DeflateContext {
  private let keepsWindow: Bool
  private let kind: Deflater.Kind
  private let leastBytes: Int
  private var deflater: Deflater?

  /// The compressors that no message is using.
  private static let spare = Mutex<[Deflater.Kind: [Deflater]]>([:])

  /// - Returns: `nil` if zlib doesn't support the window size (8 bits); messages are then sent uncompressed.
  init?(_ terms: DeflateTerms, _ options: WebSocketCompression, isServer: Bool) {
    let bits = terms.windowBits(sentByServer: isServer)
    guard bits >= 9 else { return nil }
    keepsWindow = terms.keepsWindow(sentByServer: isServer)
    kind = Deflater.Kind(windowBits: bits, level: options.level)
    leastBytes = max(options.leastBytes, 1)
  }

  deinit { release() }

  /// True if a message of this length is worth compressing.
  func takes(_ count: Int) -> Bool { count >= leastBytes }

  /// The next part of a message.
  func deflate(_ part: Chunk, isLast: Bool) -> Chunk {
    let kind = kind
    let current = deflater ?? (keepsWindow ? nil : Self.spare.withLock { $0[kind]?.popLast() }) ?? Deflater(kind)
    deflater = current
    let output = current.deflate(part, isLast: isLast)
    if isLast, !keepsWindow { release() }
    return output.compacted()
  }

  private func release() {
    guard !keepsWindow, let deflater else { return }
    self.deflater = nil
    deflater.reset()
    Self.spare.withLock {
      if $0[deflater.kind, default: []].count < 8 { $0[deflater.kind, default: []].append(deflater) }
    }
  }
}
