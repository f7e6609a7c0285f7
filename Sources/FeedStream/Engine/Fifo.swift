/// A queue: what was appended first leaves first, in constant time on average.
///
/// Two stacks, so that an element is released as soon as it is taken and needs no optional around it.
@frozen
@usableFromInline
struct Fifo<Element> {
  @usableFromInline
  var incoming: ContiguousArray<Element> = []
  /// The elements to leave next, last first.
  @usableFromInline
  var outgoing: ContiguousArray<Element> = []

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

  @inlinable
  var count: Int { incoming.count + outgoing.count }

  @inlinable
  mutating func append(_ element: Element) { incoming.append(element) }

  /// Takes the first element; there must be one.
  @inlinable
  mutating func removeFirst() -> Element {
    if outgoing.isEmpty { turn() }
    return outgoing.removeLast()
  }

  @inlinable
  @inline(never)
  mutating func turn() {
    swap(&incoming, &outgoing)
    outgoing.reverse()
  }
}
