import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct HandleEventsTests {
  @Test func `handleEvents calls its closures before it passes events on`() {
    var log: [String] = []
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.handleEvents(
      receiveSubscription: { _ in log.append("subscription") }, receiveOutput: { log.append("value \($0)") },
      receiveCompletion: { log.append("\($0)") }, receiveCancel: { log.append("cancel") },
      receiveRequest: { log.append("request \($0)") }
    ).record(demand: .oneByOne)
    recorder.onValue = { log.append("delivered \($0)") }
    subject.send(7)
    subject.send(completion: .finished)
    #expect(
      log == ["subscription", "request max(1)", "value 7", "delivered 7", "request max(1)", "finished"])
  }

  @Test func `handleEvents reports a cancellation once`() {
    var cancellations = 0
    let recorder = PassthroughSubject<Int, Boom>().handleEvents(receiveCancel: { cancellations += 1 }).record()
    recorder.cancel()
    recorder.cancel()
    #expect(cancellations == 1)
  }

  @Test func `a value isn't delivered if its handleEvents closure cancels`() {
    let subject = PassthroughSubject<Int, Boom>()
    var cancel = {}
    let recorder = subject.handleEvents(receiveOutput: { _ in cancel() }).record()
    cancel = { recorder.cancel() }
    subject.send(1)
    #expect(recorder.values.isEmpty)
  }

  @Test func `after a handleEvents closure cancels, no closure is called and no event delivered`() {
    let source = PassthroughSubject<Int, Never>()
    var (cancels, endings) = (0, 0)
    var cancellable: AnyCancellable?
    cancellable = source.handleEvents(
      receiveCompletion: { _ in cancellable?.cancel() }, receiveCancel: { cancels += 1 }
    ).sink(receiveCompletion: { _ in endings += 1 }, receiveValue: { _ in })
    source.send(completion: .finished)
    #expect(endings == 0)
    #expect(cancels == 0)
  }

  @Test func `a million values pulled one by one keep the stack flat`() {
    #expect((0..<1_000_000).publisher.handleEvents(receiveOutput: { _ in }).pulled(.requesting) == 1_000_000)
  }
}
