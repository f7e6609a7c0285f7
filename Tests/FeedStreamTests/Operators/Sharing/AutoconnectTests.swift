import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct AutoconnectTests {
  @Test func `autoconnect connects once, even when one subscriber attaches within another's subscribing`() {
    let source = PassthroughSubject<Int, Never>()
    var connected = 0
    let shared = source.handleEvents(
      receiveSubscription: { _ in connected += 1 }, receiveCancel: { connected -= 1 }
    )
    .makeConnectable().autoconnect()
    var inner: Recorder<Int, Never>?
    let outer = AnySubscriber<Int, Never>(receiveSubscription: {
      inner = shared.record()
      $0.cancel()
    })
    shared.subscribe(outer)
    #expect(connected == 1)
    source.send(1)
    #expect(inner?.values == [1])
    inner?.cancel()
    #expect(connected == 0)
  }

  @Test func `connecting again and again keeps nothing of the connections that are over`() {
    final class Witness: Subject {
      typealias Output = Int
      typealias Failure = Never
      struct Weak { weak var subscription: AnyObject? }
      let inner = PassthroughSubject<Int, Never>()
      var seen: [Weak] = []
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
        inner.receive(subscriber: subscriber)
      }
      func send(_ value: Int) { inner.send(value) }
      func send(completion: Subscribers.Completion<Never>) { inner.send(completion: completion) }
      func send(subscription: any Subscription) {
        seen.append(Weak(subscription: subscription as AnyObject))
        inner.send(subscription: subscription)
      }
    }
    let witness = Witness()
    let shared = PassthroughSubject<Int, Never>().multicast(subject: witness).autoconnect()
    for _ in 1...1_000 { shared.record().cancel() }
    #expect(witness.seen.count == 1_000)
    #expect(witness.seen.count { $0.subscription != nil } <= 64)
  }
}
