import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ConcatenateTests {
  @Test func `demand returned for a publisher's last value goes to the next publisher`() {
    let first = PassthroughSubject<Int, Never>()
    let recorder = first.append(2, 3).record(demand: .oneByOne)
    recorder.onValue = { if $0 == 1 { first.send(completion: .finished) } }
    first.send(1)
    #expect(recorder.values == [1, 2, 3])
    #expect(recorder.completion == .finished)
  }

  @Test func `append and prepend mix publishers that can and can't fail`() {
    let failing = Just(2).setFailureType(to: Boom.self)
    let streams: [AnyPublisher<Int, Boom>] = [
      Just(1).append(failing).eraseToAnyPublisher(), failing.prepend(Just(1)).eraseToAnyPublisher(),
      Just(2).prepend(Just(1).setFailureType(to: Boom.self)).eraseToAnyPublisher(),
      Just(1).setFailureType(to: Boom.self).append(Just(2)).eraseToAnyPublisher(),
    ]
    for stream in streams { stream.record().expect("(12|)") }
    #expect(Just(1).append(Fail<Int, Boom>(error: Boom())).record().failure == Boom())
  }
}
