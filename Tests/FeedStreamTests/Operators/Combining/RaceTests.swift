import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RaceTests {
  @Test func `race delivers the first publisher to deliver, and cancels the other`() {
    withVirtualTime { time in
      var isCancelled = false
      let slow = time.hot("--ab|").handleEvents(receiveCancel: { isCancelled = true })
      let recorder = slow.race(with: time.hot("-1--2|")).record(on: time)
      time.run()
      recorder.expect("-1--2|")
      #expect(isCancelled)
    }
  }

  @Test func `a completion can win a race`() {
    withVirtualTime { time in
      let recorder = [time.hot("--a"), time.hot("-#")].race().record(on: time)
      time.run()
      recorder.expect("-#")
      #expect([Just<Int>]().race().record(on: time).completion == .finished)
    }
  }

  @Test func `race passes demand to all publishers, then to the winner`() {
    let recorder = [[1, 2, 3].publisher, [4, 5].publisher].race().record(demand: .max(1))
    #expect(recorder.values == [1])
    recorder.request(.unlimited)
    #expect(recorder.values == [1, 2, 3])
  }

  @Test func `race mixes publishers that can and can't fail`() {
    let failing = Fail<Int, Boom>(error: Boom())
    #expect(failing.race(with: Just(1)).record().failure == Boom())
    #expect(Just(1).race(with: failing).record().values == [1])
  }
}
