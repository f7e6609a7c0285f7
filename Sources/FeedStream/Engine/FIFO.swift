/// A queue: first in, first out, each in O(1) amortized. It keeps its storage when it runs empty.
@frozen
@usableFromInline
struct FIFO<Element> {
  @usableFromInline
  var storage: ContiguousArray<Element?> = []
  @usableFromInline
  var head = 0

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool { head == storage.count }
  @inlinable
  var count: Int { storage.count - head }

  /// The element that `index` others leave before.
  @inlinable
  subscript(index: Int) -> Element { storage[head + index]! }

  @inlinable
  mutating func append(_ element: Element) {
    if head > 32, head > storage.count / 2 {
      storage.removeFirst(head)
      head = 0
    }
    storage.append(element)
  }

  @inlinable
  mutating func popFirst() -> Element? {
    guard head < storage.count else { return nil }
    let element = storage[head]
    storage[head] = nil
    head &+= 1
    if head == storage.count {
      storage.removeAll(keepingCapacity: true)
      head = 0
    }
    return element
  }

  @inlinable
  mutating func removeAll() {
    storage.removeAll()
    head = 0
  }
}
