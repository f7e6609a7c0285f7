import FeedStream
import TestSupport
import Testing

@Suite("receive(on:), subscribe(on:), delay", .settled) struct DeferringTests {
  let time = MarbleTime()

  @Test func `delay moves values and the ending by the interval`() {
    let recorder = time.hot("-a-b-c|").delay(for: 3, scheduler: time).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "----a-b-c|")
  }

  @Test func `delay moves a failure behind the values before it`() {
    let recorder = time.hot("-ab#").delay(for: 2, scheduler: time).record(on: time)
    time.advance(by: 20)
    #expect(recorder.marbles == "---ab#")
  }

  @Test func `receive(on:) delivers nothing in the call that sends`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.receive(on: time).record(on: time)
    subject.send("a")
    subject.send("b")
    subject.send(completion: .finished)
    #expect(recorder.marbles == "")
    time.advance(by: 0)
    #expect(recorder.marbles == "(ab|)")
  }

  @Test func `after cancel neither a value nor an ending that was scheduled is delivered`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.receive(on: time).record(on: time)
    subject.send("a")
    subject.send(completion: .finished)
    recorder.cancel()
    time.advance(by: 10)
    #expect(recorder.marbles == "")
  }

  @Test func `cancelling within a value drops those scheduled after it`() {
    let subject = PassthroughSubject<Character, Boom>()
    let recorder = subject.delay(for: 1, scheduler: time).record(on: time)
    recorder.onValue = { _ in recorder.cancel() }
    for value in "abc" { subject.send(value) }
    time.advance(by: 10)
    #expect(recorder.marbles == "-a")
  }

  @Test func `what cancel drops is released at once`() {
    final class Value {}
    let subject = PassthroughSubject<Value, Boom>()
    let recorder = subject.delay(for: 5, scheduler: time).record(on: time)
    weak var sent: Value?
    do {
      let value = Value()
      sent = value
      subject.send(value)
    }
    #expect(sent != nil)
    recorder.cancel()
    #expect(sent == nil)
  }

  @Test func `never more is asked of upstream than of receive(on:)`() {
    let recorder = (1...10).publisher.receive(on: time).record(on: time, asking: .max(2))
    time.advance(by: 1)
    #expect(recorder.values == [1, 2])
    recorder.request(.max(3))
    time.advance(by: 1)
    #expect(recorder.values == [1, 2, 3, 4, 5])
    #expect(recorder.completion == nil)
  }

  @Test func `a hundred thousand values pulled one by one keep the stack flat`() {
    let recorder = (1...100_000).publisher.receive(on: ImmediateScheduler.shared)
      .record(on: time, asking: .max(1), andThen: .max(1))
    #expect(recorder.values.count == 100_000)
    #expect(recorder.completion == .finished)
  }

  @Test func `subscribe(on:) subscribes and cancels on the scheduler`() {
    var log: [String] = []
    let upstream = PassthroughSubject<Character, Boom>()
      .handleEvents(receiveSubscription: { _ in log.append("subscribed") }, receiveCancel: { log.append("cancelled") })
    let recorder = upstream.subscribe(on: time).record(on: time)
    #expect(log == [])
    time.advance(by: 1)
    #expect(log == ["subscribed"])
    recorder.cancel()
    #expect(log == ["subscribed"])
    time.advance(by: 1)
    #expect(log == ["subscribed", "cancelled"])
  }

  @Test func `a sink cancelled before its subscription has come receives nothing`() {
    var values: [Int] = []
    let sink = Just(1).subscribe(on: time).sink { values.append($0) }
    sink.cancel()
    time.advance(by: 1)
    #expect(values == [])
  }

  @Test func `delaySubscription subscribes later and asks for what was asked meanwhile`() {
    let recorder = time.cold("-a-b-|").delaySubscription(for: 3, scheduler: time).record(on: time, asking: .max(1))
    recorder.request(.max(1))
    time.advance(by: 20)
    #expect(recorder.marbles == "----a-b-|")
  }

  @Test func `delaySubscription never subscribes once cancelled`() {
    var subscriptions = 0
    let upstream = Deferred {
      subscriptions += 1
      return Just(1)
    }
    let recorder = upstream.delaySubscription(for: 3, scheduler: time).record(on: time)
    time.advance(by: 2)
    recorder.cancel()
    time.advance(by: 20)
    #expect(subscriptions == 0)
    #expect(time.waiting == 0)
  }
}
