import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct BufferTests {
  @Test func `a buffer holds values until they are requested, and the completion after them`() {
    withVirtualTime { time in
      let recorder = time.hot("ab|").buffer(size: 2, prefetch: .byRequest, whenFull: .dropNewest)
        .record(on: time, demand: .none)
      time.run()
      recorder.expect("")
      recorder.request(.max(1))
      recorder.request(.max(2))
      recorder.expect("--(ab|)")
    }
  }

  @Test func `a full buffer drops the oldest or the newest value`() {
    func expect(_ marbles: String, _ whenFull: Publishers.BufferingStrategy<MarbleFailure>) {
      withVirtualTime { time in
        let recorder = time.hot("abc").buffer(size: 2, prefetch: .byRequest, whenFull: whenFull)
          .record(on: time, demand: .none)
        time.run()
        recorder.request(.max(2))
        recorder.expect(marbles)
        recorder.cancel()
      }
    }
    expect("--(bc)", .dropOldest)
    expect("--(ab)", .dropNewest)
  }

  @Test func `a buffer that overflows before the first request fails with that request, after the held values`() {
    let recorder = [1, 2, 3].publisher.setFailureType(to: Boom.self)
      .buffer(size: 2, prefetch: .byRequest, whenFull: .customError { Boom() }).record(demand: .none)
    #expect(recorder.completion == nil)
    recorder.request(.max(2))
    #expect(recorder.values == [1, 2])
    #expect(recorder.failure == Boom())
  }

  @Test func `a failure of upstream before the first request is delivered without a request`() {
    let recorder = Fail<Int, Boom>(error: Boom()).buffer(size: 2, prefetch: .byRequest, whenFull: .dropNewest)
      .record(demand: .none)
    #expect(recorder.failure == Boom())
  }

  @Test func `a buffer with prefetch .keepFull requests one value for each one delivered`() {
    var asked: [Subscribers.Demand] = []
    let recorder = (1...9).publisher.handleEvents(receiveRequest: { asked.append($0) })
      .buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest).record(demand: .none)
    recorder.request(.max(1))
    #expect(recorder.values == [1])
    #expect(asked == [.max(2), .max(1)])
    recorder.cancel()
  }
}
