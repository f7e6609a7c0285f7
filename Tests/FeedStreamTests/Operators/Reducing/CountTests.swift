import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CountTests {
  @Test func `count delivers the number of values`() {
    #expect((1...5).publisher.eraseToAnyPublisher().count().record().values == [5])
  }

  @Test func `a count waits until it is requested`() {
    let recorder = (1...5).publisher.eraseToAnyPublisher().count().record(demand: .none)
    recorder.expect("")
    recorder.request(.max(1))
    recorder.expect("(5|)")
  }

  @Test func `cancelling releases a result that waits for a request`() {
    let recorder = (1...5).publisher.eraseToAnyPublisher().count().record(demand: .none)
    recorder.cancel()
    recorder.request(.max(1))
    recorder.expect("")
  }

  @Test func `a subscriber that cancels on the result receives no completion`() {
    let subject = PassthroughSubject<Int, MarbleFailure>()
    let recorder = subject.count().record()
    recorder.onValue = { _ in recorder.cancel() }
    subject.send(completion: .finished)
    recorder.expect("0")
  }

  @Test func `a failure is delivered without a result`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").count().record(on: time)
      time.run()
      recorder.expect("--#")
    }
  }
}
