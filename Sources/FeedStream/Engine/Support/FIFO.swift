/// A queue: first in, first out; adding and removing cost amortized O(1).
///
/// The first element is stored separately, because most queues here hold at most one element (without this, `zip` took
/// 14 ns per value). The others are in a ring. The ring's storage doubles when it is full and is kept when it is empty,
/// so that a queue that repeatedly becomes empty does not allocate.
@frozen @usableFromInline package struct FIFO<Element> {
  // The capacity is always a power of two, or zero.
  @usableFromInline var storage: ContiguousArray<Element?> = []
  @usableFromInline var head = 0
  @usableFromInline var count = 0
  // Stored last, so that the other properties' offsets do not depend on this property's type.
  @usableFromInline var first: Element?

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { count == 0 }

  /// The element at `index`, counted from the front.
  @inlinable subscript(index: Int) -> Element {
    get { (index == 0 ? first : storage[place(index &- 1)]).unsafelyUnwrapped }
    set { if index == 0 { first = newValue } else { storage[place(index &- 1)] = newValue } }
  }

  /// The position in the storage of the ring's element at `index`, counted from the front.
  @inlinable func place(_ index: Int) -> Int { (head &+ index) & (storage.count &- 1) }

  @inlinable package mutating func append(_ element: Element) {
    if count == 0 { first = element } else { store(element) }
    count &+= 1
  }

  /// Inserts `element` before all others.
  @inlinable package mutating func prepend(_ element: Element) {
    if count > 0 {
      if count > storage.count { grow() }
      head = place(storage.count &- 1)
      storage[head] = first
    }
    first = element
    count &+= 1
  }

  @inlinable package mutating func popFirst() -> Element? { count > 0 ? removeFirst() : nil }

  /// - Precondition: the queue is not empty.
  @inlinable package mutating func removeFirst() -> Element {
    count &-= 1
    let element = first.unsafelyUnwrapped
    first = count > 0 ? takeStored() : nil
    return element
  }

  @inlinable package mutating func removeAll() { if count > 0 { discard(take()) } }

  /// Removes and returns all elements.
  @inlinable package mutating func take() -> FIFO {
    exchange(&self, with: FIFO())
  }

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

  // Inlinable, so that it is specialized: otherwise, moving the elements would take longer than everything else.
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
