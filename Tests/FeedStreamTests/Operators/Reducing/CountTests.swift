import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CountTests {
  @Test func `count delivers how many values there were`() {
    #expect((1...5).publisher.eraseToAnyPublisher().count().record().values == [5])
  }

  @Test func `a result waits until it is requested`() {
    let recorder = (1...5).publisher.eraseToAnyPublisher().count().record(demand: .none)
    recorder.expect("")
    recorder.request(.max(1))
    recorder.expect("(5|)")
  }

  @Test func `a result that is waiting is let go when cancelled`() {
    let recorder = (1...5).publisher.eraseToAnyPublisher().count().record(demand: .none)
    recorder.cancel()
    recorder.request(.max(1))
    recorder.expect("")
  }

  @Test func `a subscriber that cancels upon the result is not told of the completion`() {
    let subject = PassthroughSubject<Int, MarbleFailure>()
    let recorder = subject.count().record()
    recorder.onValue = { _ in recorder.cancel() }
    subject.send(completion: .finished)
    recorder.expect("0")
  }

  @Test func `a failure passes without a result`() {
    withVirtualTime { time in
      let recorder = time.cold("ab#").count().record(on: time)
      time.run()
      recorder.expect("--#")
    }
  }
}
