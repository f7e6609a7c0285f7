import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ConcatenateTests {
  @Test func `what is asked for in the answer to a publisher's last value is asked of the next`() {
    let first = PassthroughSubject<Int, Never>()
    let recorder = first.append(2, 3).record(demand: .oneByOne)
    recorder.onValue = { if $0 == 1 { first.send(completion: .finished) } }
    first.send(1)
    #expect(recorder.values == [1, 2, 3])
    #expect(recorder.completion == .finished)
  }
}
