import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct FirstTests {
  @Test func `first delivers the first value, or the first that fits`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.first().record().values == [1])
    #expect(numbers.first { $0 > 2 }.record().values == [3])
    #expect(numbers.tryFirst { $0 > 5 }.record().values == [])
  }

  @Test func `a settled result cancels upstream before it is delivered`() {
    var log: [String] = []
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.handleEvents(receiveCancel: { log.append("cancelled") }).first().record()
    recorder.onValue = { log.append("delivered \($0)") }
    subject.send(1)
    subject.send(2)
    #expect(log == ["cancelled", "delivered 1"])
    #expect(recorder.completion == .finished)
  }
}
