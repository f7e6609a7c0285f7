import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SwitchToLatestTests {
  @Test func `demand returned for a publisher's last value goes to the next publisher`() {
    let (old, outer) = (PassthroughSubject<Int, Never>(), PassthroughSubject<PassthroughSubject<Int, Never>, Never>())
    let new = PassthroughSubject<Int, Never>()
    let recorder = outer.switchToLatest().record(demand: .oneByOne)
    recorder.onValue = { if $0 == 1 { outer.send(new) } }
    outer.send(old)
    old.send(1)
    new.send(2)
    new.send(3)
    #expect(recorder.values == [1, 2, 3])
  }

  @Test func `an immediate sequence stops when the subscriber cancels`() {
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    var subscription: AnyCancellable?
    subscription = subject.flatMapLatest { (0..<$0).publisher }.sink { value in
      values.append(value)
      if value == 1 { subscription = nil }
    }
    subject.send(5)
    #expect(values == [0, 1])
    #expect(subject.send(5) == Delivery())
    withExtendedLifetime(subscription) {}
  }

  private final class Token {}

  @Test func `a stream cancelled while its inner publisher is cancelled releases everything`() {
    let subject = PassthroughSubject<Int, Never>()
    weak var witness: Token?
    var subscription: AnyCancellable?
    do {
      let token = Token()
      witness = token
      subscription = subject.flatMapLatest { [$0].publisher.handleEvents(receiveCancel: { subscription = nil }) }
        .sink {
          withExtendedLifetime(token) {}
          if $0 == 1 { subject.send(2) }
        }
    }
    subject.send(1)
    #expect(subscription == nil)
    #expect(witness == nil)
  }

  @Test func `a value sent while a publisher is cancelled is the newest, and the only one delivered`() {
    let subject = PassthroughSubject<Int, Never>()
    var made: [Int: PassthroughSubject<Int, Never>] = [:]
    var log: [String] = []
    let subscription = subject.flatMapLatest { number in
      let inner = PassthroughSubject<Int, Never>()
      made[number] = inner
      return inner.handleEvents(receiveCancel: {
        log.append("\(number) cancelled")
        if number == 1 { subject.send(100) }
      })
    }.sink { log.append("\($0)") }
    subject.send(1)
    subject.send(2)
    made[2]?.send(21)
    made[100]?.send(101)
    #expect(log == ["1 cancelled", "101"])
    subscription.cancel()
    #expect(log.last == "100 cancelled")
  }
}
