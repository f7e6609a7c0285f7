import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct DropTests {
  @Test func `dropFirst requests the values it drops in addition to the demand`() {
    let recorder = (1...9).map { $0 }.publisher.eraseToAnyPublisher().dropFirst(3).record(demand: .max(2))
    #expect(recorder.values == [4, 5])
  }

  @Test func `dropFirst delivers nothing to a subscriber that cancels on subscription`() {
    let recorder = CancelAtOnce<Int, Never>()
    [1, 2, 3].publisher.eraseToAnyPublisher().dropFirst().subscribe(recorder)
    #expect(!recorder.hasReceived)
  }

  @Test func `dropFirst with a negative count traps`() async {
    await #expect(processExitsWith: .failure) {
      _ = PassthroughSubject<Int, Never>().dropFirst(-1).sink { _ in }
    }
  }
}

private final class CancelAtOnce<Input, Failure: Error>: Subscriber {
  private(set) var hasReceived = false

  func receive(subscription: any Subscription) {
    subscription.request(.unlimited)
    subscription.cancel()
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    hasReceived = true
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) { hasReceived = true }
}
