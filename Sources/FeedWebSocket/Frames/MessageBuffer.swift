internal import FeedStream

/// The bytes of a message that is arriving, in one piece of memory, no matter how it is fragmented.
struct MessageBuffer: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0

  deinit { base?.deallocate() }

  /// Makes room for `more` bytes at the end; they count after ``advance(by:)``.
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

  /// - Returns: the bytes that count from now on.
  mutating func advance(by more: Int) -> UnsafeRawBufferPointer {
    defer { count += more }
    return UnsafeRawBufferPointer(start: base.map { $0 + count }, count: more)
  }

  /// Removes the bytes and returns them as a chunk; no memory is kept.
  mutating func take() -> Chunk {
    defer {
      base?.deallocate()
      (base, capacity, count) = (nil, 0, 0)
    }
    return Chunk(copying: UnsafeRawBufferPointer(start: base, count: count))
  }
}
