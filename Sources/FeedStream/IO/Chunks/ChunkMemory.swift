/// Memory that chunks use and retain.
// @unchecked: only the code that allocates the memory writes to it, and only to parts that no chunk shows yet.
@usableFromInline final class ChunkMemory: @unchecked Sendable {
  @usableFromInline let base: UnsafeMutablePointer<UInt8>
  /// The size in bytes.
  @usableFromInline let capacity: Int
  private let pool: ChunkPool?

  /// Allocates memory that this object owns and frees.
  @usableFromInline convenience init(capacity: Int) {
    self.init(.allocate(capacity: Swift.max(capacity, 1)), capacity: capacity, pool: nil)
  }

  init(_ base: UnsafeMutablePointer<UInt8>, capacity: Int, pool: ChunkPool?) {
    self.base = base
    self.capacity = capacity
    self.pool = pool
  }

  deinit {
    if let pool { pool.takeBack(base) } else { base.deallocate() }
  }

  /// The memory of a chunk without bytes.
  @usableFromInline static let none = ChunkMemory(capacity: 0)
}

/// Blocks of memory of equal size, reused by readers.
///
/// A reader fills a block from its beginning, and continues after the delivered bytes as long as there is room, so that
/// small reads share a block. Safe to use from any thread, because a chunk may be released on any thread.
package final class ChunkPool: Sendable {
  /// The size of a block, in bytes.
  let blockSize: Int
  private let limit: Int
  private let free: Locked<Blocks>

  // @unchecked: no other code uses a block while it is in the pool.
  private struct Blocks: ~Copyable, @unchecked Sendable {
    var blocks: [UnsafeMutablePointer<UInt8>] = []
    deinit { for block in blocks { block.deallocate() } }
  }

  /// - Parameters:
  ///   - blockSize: the size of a block, in bytes.
  ///   - limit: the maximum number of unused blocks to keep; blocks beyond that are freed.
  package init(blockSize: Int, keeping limit: Int) {
    self.blockSize = blockSize
    self.limit = limit
    free = Locked(Blocks())
  }

  func take() -> ChunkMemory {
    let block = free.withLock { $0.blocks.popLast() } ?? .allocate(capacity: blockSize)
    return ChunkMemory(block, capacity: blockSize, pool: self)
  }

  fileprivate func takeBack(_ block: UnsafeMutablePointer<UInt8>) {
    let isKept = free.withLock {
      guard $0.blocks.count < limit else { return false }
      $0.blocks.append(block)
      return true
    }
    if !isKept { block.deallocate() }
  }

  /// The number of unused blocks, for tests.
  package var unused: Int { free.withLock { $0.blocks.count } }
}

/// The memory for the next read.
package struct ChunkWriter: ~Copyable {
  private let pool: ChunkPool
  private var memory: ChunkMemory?
  private var used = 0
  /// The minimum number of bytes for a read.
  private let least: Int

  package init(_ pool: ChunkPool, least: Int) {
    self.pool = pool
    self.least = least
  }

  /// Room for the next read. ``take(_:)`` delivers the bytes written into it; otherwise, the next read overwrites them.
  package mutating func room() -> UnsafeMutableBufferPointer<UInt8> { room(for: least) }

  /// Room for at least `count` bytes, which a block must be able to hold.
  package mutating func room(for count: Int) -> UnsafeMutableBufferPointer<UInt8> {
    if memory == nil || pool.blockSize - used < count {
      memory = pool.take()
      used = 0
    }
    return UnsafeMutableBufferPointer(start: memory!.base + used, count: pool.blockSize - used)
  }

  /// Returns the first `count` bytes of the room, which have been written, as a chunk.
  package mutating func take(_ count: Int) -> Chunk {
    guard let memory else { return Chunk() }
    let chunk = Chunk(memory, from: UnsafePointer(memory.base + used), count: count)
    used += count
    return chunk
  }

  /// Releases the memory. Call this when nothing will be read for a while.
  mutating func release() {
    memory = nil
    used = 0
  }
}
