import CLibrary
internal import FeedStream

/// An open file, closed when it is released. Several responses may share one.
public final class ServedFile: Sendable {
  let descriptor: Int32

  /// - Parameter descriptor: a descriptor of a file that can be read at any offset. This object closes it; the caller
  ///   must not.
  public init(_ descriptor: Int32) { self.descriptor = descriptor }
  deinit { _ = close(descriptor) }

  /// The bytes at `range`, or fewer if the file has been truncated; `nil` if it can't be read. Blocks.
  func read(_ range: Range<Int64>) -> Chunk? {
    var hasFailed = false
    let chunk = Chunk(capacity: range.count) { room in
      while true {
        let count = pread(descriptor, room.baseAddress, range.count, off_t(range.lowerBound))
        if count >= 0 { return count }
        hasFailed = errno != EINTR
        if hasFailed { return 0 }
      }
    }
    return hasFailed ? nil : chunk
  }
}

extension FileBody {
  /// Reads the range off the loop on demand, a chunk at a time.
  var chunks: Publishers.FileBytes {
    Publishers.FileBytes(
      range, of: file.descriptor, named: "a file that is served", keeping: file, chunkSize: 128 * 1024, on: scheduler)
  }
}
