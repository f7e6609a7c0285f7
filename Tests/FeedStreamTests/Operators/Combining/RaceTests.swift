import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RaceTests {
  @Test func `race becomes what delivers first and cancels the other`() {
    withVirtualTime { time in
      var isCancelled = false
      let slow = time.hot("--ab|").handleEvents(receiveCancel: { isCancelled = true })
      let recorder = slow.race(with: time.hot("-1--2|")).record(on: time)
      time.run()
      recorder.expect("-1--2|")
      #expect(isCancelled)
    }
  }

  @Test func `a completion wins a race as well`() {
    withVirtualTime { time in
      let recorder = [time.hot("--a"), time.hot("-#")].race().record(on: time)
      time.run()
      recorder.expect("-#")
      #expect([Just<Int>]().race().record(on: time).completion == .finished)
    }
  }

  @Test func `race passes demand to all, then to the winner`() {
    let recorder = [[1, 2, 3].publisher, [4, 5].publisher].race().record(demand: .max(1))
    #expect(recorder.values == [1])
    recorder.request(.unlimited)
    #expect(recorder.values == [1, 2, 3])
  }

  @Test func `one that cannot fail races one that can, either way`() {
    let failing = Fail<Int, Boom>(error: Boom())
    #expect(failing.race(with: Just(1)).record().failure == Boom())
    #expect(Just(1).race(with: failing).record().values == [1])
  }
}
