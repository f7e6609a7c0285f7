internal import FeedStream

/// The bytes of an arriving message, in one block of memory, no matter how the message is fragmented.
struct MessageBuffer: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0

  deinit { base?.deallocate() }

  /// Makes room for `more` bytes at the end; ``advance(by:)`` adds them to the message.
  mutating func room(for more: Int) -> UnsafeMutableRawPointer {
    let needed = count + more
    if needed > capacity {
      let wanted = max(needed, min(capacity * 2, capacity + 8 << 20), 64)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
      if let base {
        memory.copyMemory(from: base, byteCount: count)
        base.deallocate()
      }
      (base, capacity) = (memory, wanted)
    }
    return base! + count
  }

  /// - Returns: the bytes that were added.
  mutating func advance(by more: Int) -> UnsafeRawBufferPointer {
    defer { count += more }
    return UnsafeRawBufferPointer(start: base.map { $0 + count }, count: more)
  }

  /// Returns the bytes as a chunk, and releases the memory.
  mutating func take() -> Chunk {
    defer {
      base?.deallocate()
      (base, capacity, count) = (nil, 0, 0)
    }
    return Chunk(copying: UnsafeRawBufferPointer(start: base, count: count))
  }
}
