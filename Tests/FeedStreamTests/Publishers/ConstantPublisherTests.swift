import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ConstantPublisherTests {
  @Test func `Just delivers its value on the first request, with the completion`() {
    let recorder = Just(1).record(demand: .none)
    recorder.expect("")
    recorder.request(.max(1))
    recorder.expect("(1|)")
  }

  @Test func `a subscriber that cancels on the value receives no completion`() {
    let recorder = Just(1).record(demand: .none)
    recorder.onValue = { _ in recorder.cancel() }
    recorder.request(.unlimited)
    #expect(recorder.values == [1])
    #expect(recorder.completion == nil)
  }

  @Test func `a completion without a value needs no request`() {
    Empty<Int, MarbleFailure>().record(demand: .none).expect("|")
    Fail<Int, MarbleFailure>(error: MarbleFailure()).record(demand: .none).expect("#")
    Int?.none.publisher.record(demand: .none).expect("|")
    Result<Int, MarbleFailure>.failure(MarbleFailure()).publisher.record(demand: .none).expect("#")
  }

  @Test func `operators on a constant run when the chain is made`() {
    #expect(Just(2).map { $0 * 2 } == Just(4))
    #expect(Just(2).filter { $0 > 2 } == Int?.none.publisher)
    #expect(Optional(2).publisher.filter { $0 > 1 }.replaceEmpty(with: 0) == Just(2))
    #expect([1, 2, 3].publisher.map { $0 * 2 }.filter { $0 > 2 } == [4, 6].publisher)
    #expect([3, 1, 2].publisher.max() == Optional(3).publisher)
  }

  @Test func `a throwing closure makes a failure of a constant`() {
    let publisher = Just(1).tryMap { _ -> Int in throw Boom() }
    #expect(throws: Boom.self) { try publisher.result.get() }
  }
}
