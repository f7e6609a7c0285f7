/// The work for the next turn, in order. It only grows, until a turn takes everything.
///
/// Elements are moved in and out, whereas an array would copy them. They are stored in blocks, so that a burst of work
/// copies no elements and its memory is freed after it has run.
struct TurnQueue<Element>: ~Copyable {
  private typealias Block = UnsafeMutablePointer<Element>
  private static var blockSize: Int { @inline(__always) get { 256 } }

  private var full: ContiguousArray<Block> = []
  // Initialized up to `used`; all elements of the full blocks are initialized.
  private var last = Block.allocate(capacity: Self.blockSize)
  private var used = 0

  var count: Int { full.count * Self.blockSize + used }
  var isEmpty: Bool { @inline(__always) get { used == 0 } }

  deinit {
    for block in full {
      block.deinitialize(count: Self.blockSize)
      block.deallocate()
    }
    last.deinitialize(count: used)
    last.deallocate()
  }

  @inline(__always) mutating func append(_ element: consuming Element) {
    if used == Self.blockSize { addBlock() }
    (last + used).initialize(to: element)
    used += 1
  }

  @inline(never) private mutating func addBlock() {
    full.append(last)
    last = .allocate(capacity: Self.blockSize)
    used = 0
  }

  /// Passes every element to `body`, which must not use this queue.
  @inline(__always) mutating func drain(_ body: (consuming Element) -> Void) {
    if !full.isEmpty {
      for block in full {
        for index in 0..<Self.blockSize { body((block + index).move()) }
        block.deallocate()
      }
      full.removeAll(keepingCapacity: full.count < 1024)
    }
    let used = self.used
    self.used = 0
    for index in 0..<used { body((last + index).move()) }
  }
}

/// A closure as an element of a queue. Without this wrapper, a generic container would wrap each closure in another
/// closure on the heap.
struct Action {
  let run: () -> Void
}
