/// An entry in a ``Heap``.
@usableFromInline package protocol HeapEntry {
  /// True when this entry is taken before `other`.
  func precedes(_ other: borrowing Self) -> Bool

  /// Called with the entry's new index in the heap, for entries that may be removed before their turn.
  func moved(to place: Int)
}

extension HeapEntry {
  @inlinable package func moved(to place: Int) {}
}

/// A priority queue: adding and taking cost O(log n).
///
/// A heap with four branches per node. The heap in swift-collections can't be used here, because it can remove only its
/// first and its last entry. Entries are moved, not copied, within the array's storage, which saves a retain and a
/// release at every level.
@frozen @usableFromInline package struct Heap<Entry: HeapEntry> {
  @usableFromInline var entries: ContiguousArray<Entry> = []

  @inlinable package init() {}

  @inlinable package var count: Int { entries.count }
  @inlinable package var isEmpty: Bool { entries.isEmpty }
  @inlinable package var first: Entry? { entries.first }

  /// All entries, in no particular order.
  @inlinable package var all: ContiguousArray<Entry> { entries }

  @inlinable package mutating func insert(_ entry: Entry) {
    entries.append(entry)
    siftUp(entries.count - 1)
  }

  /// - Precondition: the heap is not empty.
  @inlinable @discardableResult package mutating func removeFirst() -> Entry { remove(at: 0) }

  /// Removes the entry at `place`, the index that the entry last received in `moved(to:)`.
  @inlinable @discardableResult package mutating func remove(at place: Int) -> Entry {
    var taken = entries.removeLast()
    if place < entries.count {
      swap(&entries[place], &taken)
      siftDown(place)
      siftUp(place)
    }
    return taken
  }

  /// Changes the first entry, which may then no longer be the first.
  @inlinable package mutating func updateFirst(_ change: (inout Entry) -> Void) {
    change(&entries[0])
    siftDown(0)
  }

  /// Changes all entries in a way that keeps their order.
  @inlinable package mutating func updateAll(_ change: (inout Entry) -> Void) {
    for place in entries.indices { change(&entries[place]) }
  }

  @inlinable package mutating func removeAll(where isUnwanted: (Entry) -> Bool) {
    entries.removeAll(where: isUnwanted)
    for place in stride(from: (entries.count + 2) / 4 - 1, through: 0, by: -1) { siftDown(place) }
  }

  @inlinable package mutating func removeAll() { entries.removeAll() }

  @inlinable mutating func siftUp(_ start: Int) {
    entries.withUnsafeMutableBufferPointer { entries in
      guard let base = entries.baseAddress else { return }
      let entry = (base + start).move()
      var place = start
      while place > 0 {
        let parent = (place - 1) / 4
        guard entry.precedes(base[parent]) else { break }
        (base + place).moveInitialize(from: base + parent, count: 1)
        base[place].moved(to: place)
        place = parent
      }
      (base + place).initialize(to: entry)
      base[place].moved(to: place)
    }
  }

  @inlinable mutating func siftDown(_ start: Int) {
    entries.withUnsafeMutableBufferPointer { entries in
      guard let base = entries.baseAddress else { return }
      let count = entries.count
      let entry = (base + start).move()
      var place = start
      while true {
        let first = 4 * place + 1
        guard first < count else { break }
        var child = first
        for other in first + 1..<Swift.max(first + 1, Swift.min(first + 4, count))
        where base[other].precedes(base[child]) {
          child = other
        }
        guard base[child].precedes(entry) else { break }
        (base + place).moveInitialize(from: base + child, count: 1)
        base[place].moved(to: place)
        place = child
      }
      (base + place).initialize(to: entry)
      base[place].moved(to: place)
    }
  }
}
