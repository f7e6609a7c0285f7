import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ReduceFromFirstTests {
  @Test func `reduce without an initial value combines the others with the first value`() {
    let numbers = [9, 2, 3].publisher.eraseToAnyPublisher()
    numbers.reduce { $0 - $1 }.record().expect("(4|)")
    #expect(numbers.tryReduce { $0 - $1 }.record().values == [4])
    #expect(numbers.reduce { $0 - $1 }.record().values == [4])
  }

  @Test func `a single value is the result, and without values there is none`() {
    Just(7).eraseToAnyPublisher().reduce(+).record().expect("(7|)")
    Empty<Int, Never>().eraseToAnyPublisher().reduce(+).record().expect("|")
  }

  @Test func `the result is delivered on completion, and a failure delivers none`() {
    withVirtualTime { time in
      expectMarbles(time.hot("-1-2--3-|", of: Int.self).reduce(+), on: time, "--------(6|)")
    }
    withVirtualTime { time in
      expectMarbles(time.hot("-1-2--3-#", of: Int.self).reduce(+), on: time, "--------#")
    }
  }

  @Test func `a thrown error cancels upstream and is the failure`() {
    var isCancelled = false
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.handleEvents(receiveCancel: { isCancelled = true }).tryReduce { _, _ in throw Boom() }
      .record()
    subject.send(1)
    #expect(!isCancelled)
    subject.send(2)
    #expect(isCancelled)
    #expect(recorder.failure is Boom)
  }
}
