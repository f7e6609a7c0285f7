internal import CLibUV

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Reads a file from its beginning to its end, for one subscriber.
// @unchecked: touched by one piece of work at a time; the next is asked for when the one before has ended.
final class FileReader: @unchecked Sendable {
  private let source: Publishers.FileBytes.Source
  /// Where the next read begins; `nil` reads where the descriptor stands.
  private var offset: Int64?
  private let chunkSize: Int
  private let pool: ChunkPool
  private var descriptor: Int32 = -1

  init(_ source: Publishers.FileBytes.Source, from offset: Int64?, chunkSize: Int) {
    self.source = source
    self.offset = offset
    self.chunkSize = chunkSize
    pool = ChunkPool(blockSize: chunkSize, keeping: 3)
  }

  deinit { if descriptor >= 0, ownsDescriptor { close(descriptor) } }

  private var ownsDescriptor: Bool { if case .path = source { true } else { false } }

  private var name: String {
    switch source {
    case .path(let path): path
    case .descriptor(_, let name): name
    }
  }

  /// The next bytes; none at the end. Blocks.
  func read() -> Result<Chunk, SystemError> {
    if descriptor < 0, let error = open() { return .failure(error) }
    let memory = pool.take()
    while true {
      let count =
        if let offset { pread(descriptor, memory.base, chunkSize, off_t(offset)) } else {
          readHere(into: memory.base)
        }
      if count >= 0 {
        if offset != nil { offset! += Int64(count) }
        return .success(Chunk(memory, from: UnsafePointer(memory.base), count: count))
      }
      if errno == ESPIPE, offset == 0 {
        // A pipe with a path has no places: it is read as it comes.
        offset = nil
      } else if errno != EINTR {
        return .failure(SystemError("read", name, code: errno))
      }
    }
  }

  private func readHere(into base: UnsafeMutablePointer<UInt8>) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, base, chunkSize)
    #elseif canImport(Musl)
      Musl.read(descriptor, base, chunkSize)
    #else
      Darwin.read(descriptor, base, chunkSize)
    #endif
  }

  private func open() -> SystemError? {
    switch source {
    case .descriptor(let number, _): descriptor = number
    case .path(let path):
      repeat {
        #if canImport(Glibc)
          descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Musl)
          descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC)
        #else
          descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #endif
      } while descriptor < 0 && errno == EINTR
      guard descriptor >= 0 else { return SystemError("open", path, code: errno) }
    }
    return nil
  }
}
