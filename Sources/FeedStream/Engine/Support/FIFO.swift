/// A queue: first in, first out, each in O(1) amortized.
///
/// Its first element has a place of its own, as most queues here hold one or none (`zip` took 14 ns a value with the ring
/// alone). The others are in a ring whose storage doubles when full and stays when empty, so that a queue that runs empty
/// again and again does not allocate.
@frozen @usableFromInline struct FIFO<Element> {
  // Always a power of two of places, or none.
  @usableFromInline var storage: ContiguousArray<Element?> = []
  @usableFromInline var head = 0
  @usableFromInline var count = 0
  // The last, so that where the others are does not depend on its type.
  @usableFromInline var first: Element?

  @inlinable init() {}

  @inlinable var isEmpty: Bool { count == 0 }

  /// The element that `index` others leave before.
  @inlinable subscript(index: Int) -> Element {
    get { (index == 0 ? first : storage[place(index &- 1)]).unsafelyUnwrapped }
    set { if index == 0 { first = newValue } else { storage[place(index &- 1)] = newValue } }
  }

  /// The place in the ring of the element that `index` others of the ring leave before.
  @inlinable func place(_ index: Int) -> Int { (head &+ index) & (storage.count &- 1) }

  @inlinable mutating func append(_ element: Element) {
    if count == 0 { first = element } else { store(element) }
    count &+= 1
  }

  @inlinable mutating func popFirst() -> Element? { count > 0 ? removeFirst() : nil }

  /// - Precondition: it is not empty.
  @inlinable mutating func removeFirst() -> Element {
    count &-= 1
    let element = first.unsafelyUnwrapped
    first = count > 0 ? takeStored() : nil
    return element
  }

  @inlinable mutating func removeAll() { self = FIFO() }

  @inlinable mutating func store(_ element: Element) {
    if count > storage.count { grow() }
    storage[place(count &- 1)] = element
  }

  @inlinable mutating func takeStored() -> Element? {
    let element = storage[head]
    storage[head] = nil
    head = place(1)
    return element
  }

  // Inlinable, and so specialized: otherwise moving the elements costs more than all else that is done with them.
  @inlinable @inline(never) mutating func grow() {
    let capacity = max(8, storage.count * 2)
    storage = ContiguousArray(unsafeUninitializedCapacity: capacity) { buffer, initialized in
      for index in 0..<capacity {
        buffer.initializeElement(at: index, to: index < count &- 1 ? storage[place(index)] : nil)
      }
      initialized = capacity
    }
    head = 0
  }
}
