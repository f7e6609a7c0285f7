import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct ConstantPublisherTests {
  private let time = MarbleTime()

  @Test func `a value waits for the first request and comes with the ending`() {
    let recorder = Just(1).record(on: time, asking: .none)
    #expect(recorder.marbles == "")
    recorder.request(.max(1))
    #expect(recorder.marbles == "(1|)")
  }

  @Test func `a subscriber that cancels on the value receives no ending`() {
    let recorder = Just(1).record(on: time, asking: .none)
    recorder.onValue = { _ in recorder.cancel() }
    recorder.request(.unlimited)
    #expect(recorder.values == [1])
    #expect(recorder.completion == nil)
  }

  @Test func `the endings of what has no value wait for no request`() {
    #expect(Empty<Int, Boom>().record(on: time, asking: .none).marbles == "|")
    #expect(Fail<Int, Boom>(error: Boom()).record(on: time, asking: .none).marbles == "#")
    #expect(Int?.none.publisher.record(on: time, asking: .none).marbles == "|")
    #expect(Result<Int, Boom>.failure(Boom()).publisher.record(on: time, asking: .none).marbles == "#")
  }

  @Test func `operators on a constant are applied when the chain is made`() {
    #expect(Just(2).map { $0 * 2 } == Just(4))
    #expect(Just(2).filter { $0 > 2 } == Int?.none.publisher)
    #expect(Optional(2).publisher.filter { $0 > 1 }.replaceEmpty(with: 0) == Just(2))
    #expect([1, 2, 3].publisher.map { $0 * 2 }.filter { $0 > 2 } == [4, 6].publisher)
    #expect([3, 1, 2].publisher.max() == Optional(3).publisher)
  }

  @Test func `a closure that throws makes a failure of a constant`() {
    let publisher = Just(1).tryMap { _ -> Int in throw Boom() }
    #expect(throws: Boom.self) { try publisher.result.get() }
  }

  @Test func `a deferred publisher is made anew for each subscriber`() {
    var made = 0
    let publisher = Deferred {
      made += 1
      return Just(made)
    }
    #expect(made == 0)
    #expect(publisher.record(on: time).values == [1])
    #expect(publisher.record(on: time).values == [2])
  }

  @Test func `a record delivers what was recorded, as asked`() {
    let record = Record<Int, Boom> { recording in
      recording.receive(1)
      recording.receive(2)
      recording.receive(completion: .failure(Boom()))
    }
    let recorder = record.record(on: time, asking: .max(1))
    #expect(recorder.marbles == "1")
    recorder.request(.max(1))
    #expect(recorder.marbles == "(12#)")
  }

  @Test func `a generated stream may be endless, and a million values pulled one by one keep the stack flat`() {
    var last = 0
    var count = 0
    let counting = Publishers.Generate(state: 0) { state -> Int? in
      state += 1
      return state
    }
    let recorder = counting.map { $0 }.prefix(1_000_000).handleEvents(receiveOutput: { last = $0 }).count()
      .record(on: time)
    count = recorder.values.first ?? 0
    #expect(last == 1_000_000)
    #expect(count == 1_000_000)

    final class Puller: Subscriber {
      var up: (any Subscription)?
      var last = 0
      func receive(subscription: any Subscription) {
        up = subscription
        subscription.request(.max(1))
      }
      func receive(_ input: Int) -> Subscribers.Demand {
        last = input
        if input < 1_000_000 { up?.request(.max(1)) }
        return .none
      }
      func receive(completion: Subscribers.Completion<Never>) {}
    }
    let puller = Puller()
    counting.subscribe(puller)
    #expect(puller.last == 1_000_000)
    puller.up?.cancel()
  }
}
