import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct RetryPolicyTests {
  @Test func `retry pauses grow up to the cap`() {
    var generator = Counting()
    let policy = RetryPolicy.exponential(from: .seconds(1), cap: .seconds(10))
    let pauses = (0...6).map { policy.pause(before: $0, using: &generator) }
    #expect(pauses == [1, 2, 4, 8, 10, 10, 10].map { .seconds($0) })
    #expect(policy.pause(before: 100_000, using: &generator) == .seconds(10))
    #expect(generator.count == 0)
  }

  @Test func `pauses that grow from zero stay zero`() {
    var generator = Counting()
    let policy = RetryPolicy.exponential(from: .zero, jitter: 0.5)
    #expect(policy.pause(before: 1, using: &generator) == .zero)
    #expect(policy.pause(before: 100_000, using: &generator) == .zero)
  }

  @Test func `jitter changes a pause by at most its share`() {
    var generator = Counting()
    let policy = RetryPolicy.constant(.seconds(8), jitter: 0.5)
    for _ in 0..<1_000 {
      let pause = policy.pause(before: 0, using: &generator)
      #expect(pause >= .seconds(4) && pause <= .seconds(8))
    }
    #expect(generator.count >= 1_000)
  }
}

/// Pseudorandom numbers, and a count of those that were used.
private struct Counting: RandomNumberGenerator {
  var count: UInt64 = 0

  mutating func next() -> UInt64 {
    count += 1
    return count &* 0x9E37_79B9_7F4A_7C15
  }
}
