import TestSupport
import Testing

@testable import FeedStream

@Suite(.settled) struct SweptListTests {
  @Test func `a list shows all of its elements while it checks which ones are over`() {
    let list = SweptList<Int>()
    for number in 0..<64 { list.add(number) { _ in false } }
    var counts: Set<Int> = []
    list.add(64) { number in
      counts.insert(list.elements.count)
      return number.isMultiple(of: 2)
    }
    #expect(counts == [65])
    #expect(list.elements == (0..<64).filter { !$0.isMultiple(of: 2) } + [64])
  }

  @Test func `elements added while a list checks the others are kept, and checked later`() {
    let list = SweptList<Int>()
    for number in 0..<64 { list.add(number) { _ in false } }
    list.add(64) { number in
      if number == 0 { list.add(-1) { _ in true } }
      return true
    }
    #expect(list.elements == [64, -1])
    for number in 0..<63 { list.add(number) { $0 < 0 } }
    #expect(!list.elements.contains(-1))
  }
}
