import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct TakeLastTests {
  @Test func `takeLast delivers the last values as requested, then the completion`() {
    let recorder = (1...5).publisher.takeLast(2).record(demand: .max(1))
    #expect(recorder.values == [4])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    #expect(recorder.values == [4, 5])
    #expect(recorder.completion == .finished)
  }

  @Test func `takeLast handles a count of zero, fewer values than its count, and failures`() {
    withVirtualTime { time in
      #expect((1...5).publisher.takeLast(0).record(on: time, demand: .none).completion == .finished)
      #expect((1...2).publisher.takeLast(9).record(on: time).values == [1, 2])
      let failing = time.cold("ab#").takeLast(1).record(on: time)
      time.run()
      failing.expect("--#")
    }
  }

  @Test func `takeLast with a negative count traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Just(1).takeLast(-1)
    }
    #expect(result?.says("takeLast(-1)") == true)
  }
}
