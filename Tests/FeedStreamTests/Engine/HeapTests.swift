import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct HeapTests {
  /// An item that knows its index in the heap.
  private final class Item: HeapEntry {
    let key: Int
    var place = -1
    init(_ key: Int) { self.key = key }
    func precedes(_ other: borrowing Item) -> Bool { key < other.key }
    func moved(to place: Int) { self.place = place }
  }

  @Test func `a heap returns items in order, whichever items were removed`() {
    var random = SeededGenerator(seed: 4)
    for size in [0, 1, 2, 5, 21, 300] {
      var heap = Heap<Item>()
      var items = (0..<size).map { _ in Item(Int.random(in: 0..<100, using: &random)) }
      for item in items { heap.insert(item) }
      for _ in 0..<size / 3 {
        let item = items.remove(at: Int.random(in: 0..<items.count, using: &random))
        #expect(heap.remove(at: item.place) === item)
      }
      var keys: [Int] = []
      while !heap.isEmpty { keys.append(heap.removeFirst().key) }
      #expect(keys == items.map(\.key).sorted())
    }
  }

  @Test func `removeAll and updateFirst keep a heap's order`() {
    var heap = Heap<Item>()
    for key in [7, 3, 9, 1, 8, 2, 6, 4, 5, 0] { heap.insert(Item(key)) }
    heap.removeAll { $0.key.isMultiple(of: 2) }
    heap.updateFirst { $0 = Item(6) }
    var keys: [Int] = []
    while !heap.isEmpty { keys.append(heap.removeFirst().key) }
    #expect(keys == [3, 5, 6, 7, 9])
  }
}
