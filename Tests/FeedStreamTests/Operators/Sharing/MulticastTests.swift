import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct MulticastTests {
  @Test func `multicast delivers to all subscribers from one subscription, while connected`() {
    var subscriptions = 0
    let source = PassthroughSubject<Int, Never>()
    let multicast = source.handleEvents(receiveSubscription: { _ in subscriptions += 1 })
      .multicast { PassthroughSubject() }
    let first = multicast.record()
    let second = multicast.record()
    source.send(1)
    let connection = multicast.connect()
    source.send(2)
    connection.cancel()
    source.send(3)
    #expect(first.values == [2])
    #expect(second.values == [2])
    #expect(subscriptions == 1)
  }
}
