import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ReduceTests {
  @Test func `reduce delivers the final result`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.reduce(10, +).record().values == [25])
    #expect(numbers.tryReduce(10, +).record().values == [25])
  }

  @Test func `a thrown error cancels upstream and is the failure`() {
    var isCancelled = false
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.handleEvents(receiveCancel: { isCancelled = true })
      .tryReduce(0) { _, _ in throw Boom() }.record()
    subject.send(1)
    #expect(isCancelled)
    #expect(recorder.failure is Boom)
  }

  @Test func `a value counts even if the completion arrives while reduce combines it`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.reduce(0) { sum, value in
      if value == 2 { subject.send(completion: .finished) }
      return sum + value
    }
    .record()
    subject.send(1)
    subject.send(2)
    #expect(recorder.values == [3])
    #expect(recorder.completion == .finished)
  }
}
