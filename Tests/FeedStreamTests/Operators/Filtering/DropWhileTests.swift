import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DropWhileTests {
  @Test func `drop(while:) delivers from the first value that doesn't match`() {
    withVirtualTime { time in
      let recorder = time.cold("abcab|").drop { $0 < "c" }.record(on: time)
      time.run()
      recorder.expect("--cab|")
    }
  }

  @Test func `a million values dropped one by one keep the stack flat`() {
    let numbers = (0..<1_000_000).publisher.eraseToAnyPublisher()
    #expect(numbers.drop { $0 < 999_999 }.pulled(.requesting) == 1)
    #expect(numbers.drop { _ in false }.pulled(.requesting) == 1_000_000)
  }
}
