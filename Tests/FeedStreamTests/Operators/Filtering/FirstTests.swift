import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct FirstTests {
  @Test func `first delivers the first value, or the first that matches`() {
    let numbers = (1...5).map { $0 }.publisher.eraseToAnyPublisher()
    #expect(numbers.first().record().values == [1])
    #expect(numbers.first { $0 > 2 }.record().values == [3])
    #expect(numbers.tryFirst { $0 > 5 }.record().values == [])
  }

  @Test func `without a result, first's completion waits for a request, as in Combine`() {
    let none = Empty<Int, Never>()
    let some = [1, 2].publisher.eraseToAnyPublisher()
    let streams: [AnyPublisher<Int, any Error>] = [
      none.first().setFailureType(to: (any Error).self).eraseToAnyPublisher(),
      none.last().setFailureType(to: (any Error).self).eraseToAnyPublisher(),
      none.min().setFailureType(to: (any Error).self).eraseToAnyPublisher(),
      none.max().setFailureType(to: (any Error).self).eraseToAnyPublisher(),
      none.reduce(+).setFailureType(to: (any Error).self).eraseToAnyPublisher(),
      some.first { $0 > 2 }.setFailureType(to: (any Error).self).eraseToAnyPublisher(),
      some.last { $0 > 2 }.setFailureType(to: (any Error).self).eraseToAnyPublisher(),
      some.tryFirst { $0 > 2 }.eraseToAnyPublisher(), some.tryLast { $0 > 2 }.eraseToAnyPublisher(),
    ]
    for stream in streams {
      let recorder = stream.record(demand: .none)
      #expect(recorder.completion == nil)
      recorder.request(.max(1))
      recorder.expect("|")
    }
  }

  @Test func `first cancels upstream before it delivers its result`() {
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
