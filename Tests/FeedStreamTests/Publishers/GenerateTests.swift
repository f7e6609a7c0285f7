import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct GenerateTests {
  @Test func `Generate can be endless, and a million values pulled one by one keep the stack flat`() {
    var last = 0
    var count = 0
    let counting = Generate(state: 0) { state -> Int? in
      state += 1
      return state
    }
    let recorder = counting.map { $0 }.prefix(1_000_000).handleEvents(receiveOutput: { last = $0 }).count()
      .record()
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
