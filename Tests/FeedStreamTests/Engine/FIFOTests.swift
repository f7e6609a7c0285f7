import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct FIFOTests {
  @Test(arguments: 0..<20)
  func `FIFO holds the same elements as an array, however it grows, shrinks and wraps around`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = FIFO<Int>()
    var expected: [Int] = []
    for value in 0..<2_000 {
      // Alternate between phases in which the queue mostly grows and mostly shrinks.
      let grows = value / 100 % 2 == 0 ? 4 : 2
      switch Int.random(in: 0..<6, using: &random) {
      case 0..<(grows - 1):
        queue.append(value)
        expected.append(value)
      case grows - 1:
        queue.prepend(value)
        expected.insert(value, at: 0)
      default:
        #expect(queue.popFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
      }
      #expect(queue.isEmpty == expected.isEmpty)
    }
    var rest: [Int] = []
    while let value = queue.popFirst() { rest.append(value) }
    #expect(rest == expected)
  }
}
