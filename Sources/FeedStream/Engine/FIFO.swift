/// A queue: first in, first out, each in O(1) amortized.
///
/// A ring whose storage doubles when full and stays when empty, so that a queue that runs empty again and again does not
/// allocate.
@frozen
@usableFromInline
struct FIFO<Element> {
  // Always a power of two of places, or none.
  @usableFromInline
  var storage: ContiguousArray<Element?> = []
  @usableFromInline
  var head = 0
  @usableFromInline
  var count = 0

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool { count == 0 }

  /// The element that `index` others leave before.
  @inlinable
  subscript(index: Int) -> Element {
    get { storage[place(index)].unsafelyUnwrapped }
    set { storage[place(index)] = newValue }
  }

  @inlinable
  func place(_ index: Int) -> Int { (head &+ index) & (storage.count &- 1) }

  @inlinable
  mutating func append(_ element: Element) {
    if count == storage.count { grow() }
    storage[place(count)] = element
    count &+= 1
  }

  @inlinable
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = storage[head]
    storage[head] = nil
    head = place(1)
    count &-= 1
    return element
  }

  @inlinable
  mutating func removeAll() { self = FIFO() }

  // Inlinable, and so specialized: otherwise moving the elements costs more than all else that is done with them.
  @inlinable
  @inline(never)
  mutating func grow() {
    var larger = ContiguousArray<Element?>(repeating: nil, count: max(8, storage.count * 2))
    for index in 0..<count { larger[index] = storage[place(index)] }
    storage = larger
    head = 0
  }
}
