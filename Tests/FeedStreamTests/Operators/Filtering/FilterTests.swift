import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct FilterTests {
  @Test func `filter passes matching values, and requests another for each one that it drops`() {
    let recorder = (1...9).publisher.eraseToAnyPublisher().filter { $0 % 2 == 0 }.record(demand: .max(2))
    #expect(recorder.values == [2, 4])
    recorder.request(.max(1))
    #expect(recorder.values == [2, 4, 6])
    recorder.cancel()
  }

  @Test func `tryFilter fails with the error that its closure throws`() {
    withVirtualTime { time in
      let recorder = time.cold("abc|").tryFilter { $0 == "a" ? true : try { throw MarbleFailure() }() }.record(on: time)
      time.run()
      recorder.expect("a#")
    }
  }
}
