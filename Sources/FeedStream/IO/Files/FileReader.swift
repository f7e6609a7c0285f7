/// Reads a file from its beginning to its end, for one subscriber.
// @unchecked: touched by one piece of work at a time; the next is requested when the one before has ended.
final class FileReader: @unchecked Sendable {
  private let source: Publishers.FileBytes.Source
  /// The place of the next read; `nil` reads at the descriptor's position.
  private var offset: Int64?
  private let files: any FileSystem
  private let pool: ChunkPool
  private var file: (any OpenFile)?

  init(_ source: Publishers.FileBytes.Source, of files: any FileSystem, from offset: Int64?, chunkSize: Int) {
    self.source = source
    self.files = files
    self.offset = offset
    pool = ChunkPool(blockSize: chunkSize, keeping: 3)
  }

  /// The next bytes; none at the end. Blocks.
  func read() -> Result<Chunk, SystemError> {
    Result { () throws(SystemError) in
      if self.file == nil { try open() }
      guard let file = self.file else { return Chunk() }
      let memory = pool.take()
      let room = UnsafeMutableBufferPointer(start: memory.base, count: pool.blockSize)
      let count = try file.read(into: room, at: offset)
      if offset != nil { offset! += Int64(count) }
      return Chunk(memory, from: UnsafePointer(memory.base), count: count)
    }
  }

  private func open() throws(SystemError) {
    switch source {
    case .path(let path): file = try files.open(path, .reading)
    case .descriptor(let number, let name): file = SystemFile(number, name: name, isOwned: false)
    case .made(let maker): file = MadeFile(maker)
    }
  }
}
