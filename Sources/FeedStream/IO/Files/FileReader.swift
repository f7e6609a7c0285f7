/// Reads a file from its beginning to its end, for one subscriber.
// @unchecked: used by one piece of work at a time; the next starts after the previous one has ended.
final class FileReader: @unchecked Sendable {
  private let source: Publishers.FileBytes.Source
  /// The position of the next read; `nil` for the descriptor's own position.
  private var offset: Int64?
  /// The number of bytes left to read; `nil` to read to the end.
  private var left: Int64?
  private let files: any FileSystem
  private let pool: ChunkPool
  private var file: (any OpenFile)?

  init(
    _ source: Publishers.FileBytes.Source, of files: any FileSystem, from offset: Int64?, _ count: Int64? = nil,
    chunkSize: Int
  ) {
    self.source = source
    self.files = files
    self.offset = offset
    left = count
    pool = ChunkPool(blockSize: chunkSize, keeping: 3)
  }

  /// True if all requested bytes have been read. Check this only when no read is running.
  var isOver: Bool { left == 0 }

  /// The next bytes; empty at the end. Blocks.
  func read() -> Result<Chunk, SystemError> {
    Result { () throws(SystemError) in
      if self.file == nil { try open() }
      guard let file = self.file else { return Chunk() }
      let memory = pool.take()
      let most = left.map { Int(min($0, Int64(pool.blockSize))) } ?? pool.blockSize
      let room = UnsafeMutableBufferPointer(start: memory.base, count: most)
      let count = try file.read(into: room, at: offset)
      if offset != nil { offset! += Int64(count) }
      if let before = left {
        guard count > 0 || before == 0 else {
          throw SystemError("read", "a file that was truncated while it was being read", code: Errno.unreadable)
        }
        left = before - Int64(count)
      }
      return Chunk(memory, from: UnsafePointer(memory.base), count: count)
    }
  }

  /// Copies bytes that the system has cached in memory into `room`. Does not block.
  ///
  /// - Returns: the number of bytes; `nil` if ``read()`` is needed to get them.
  func readCached(into room: UnsafeMutableRawBufferPointer) -> Int? {
    guard let file, let offset else { return nil }
    let room = left.map { UnsafeMutableRawBufferPointer(rebasing: room.prefix(Int(clamping: $0))) } ?? room
    guard !room.isEmpty, let count = file.readCached(into: room, at: offset) else { return nil }
    self.offset = offset + Int64(count)
    left = left.map { $0 - Int64(count) }
    return count
  }

  private func open() throws(SystemError) {
    switch source {
    case .path(let path): file = try files.open(path, .reading)
    case .descriptor(let number, let name, _): file = SystemFile(number, name: name, isOwned: false)
    case .made(let maker): file = MadeFile(maker)
    }
  }
}
