import FeedStream
import TestSupport
import Testing

@Suite("handleEvents, print, measureInterval", .settled) struct EffectsTests {
  let time = MarbleTime()

  @Test func `handleEvents calls its closures before things pass`() {
    var log: [String] = []
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.handleEvents(
      receiveSubscription: { _ in log.append("subscription") }, receiveOutput: { log.append("value \($0)") },
      receiveCompletion: { log.append("\($0)") }, receiveCancel: { log.append("cancel") },
      receiveRequest: { log.append("request \($0)") }
    ).record(on: time, asking: .max(1), andThen: .max(1))
    recorder.onValue = { log.append("delivered \($0)") }
    subject.send(7)
    subject.send(completion: .finished)
    #expect(
      log == ["subscription", "request max(1)", "value 7", "delivered 7", "request max(1)", "finished"])
  }

  @Test func `handleEvents reports a cancellation once`() {
    var cancellations = 0
    let recorder = PassthroughSubject<Int, Boom>().handleEvents(receiveCancel: { cancellations += 1 }).record(on: time)
    recorder.cancel()
    recorder.cancel()
    #expect(cancellations == 1)
  }

  @Test func `a value during which a closure cancels is not delivered`() {
    let subject = PassthroughSubject<Int, Boom>()
    var cancel = {}
    let recorder = subject.handleEvents(receiveOutput: { _ in cancel() }).record(on: time)
    cancel = { recorder.cancel() }
    subject.send(1)
    #expect(recorder.values.isEmpty)
  }

  @Test func `print writes a line for everything that passes`() {
    let lines = Lines()
    let recorder = [1].publisher.print("numbers", to: lines).record(on: time, asking: .max(2))
    #expect(recorder.values == [1])
    #expect(
      lines.text == """
        numbers: receive subscription: ([1])
        numbers: request max: (2)
        numbers: receive value: (1)
        numbers: receive finished

        """)
  }

  @Test func `measureInterval counts from the subscription and then from value to value`() {
    let recorder = time.hot("--a---b|").measureInterval(using: time).record(on: time)
    time.advance(by: 8)
    #expect(recorder.values == [2, 4])
  }

  @Test func `a million values pulled one by one keep the stack flat`() {
    let numbers = (0..<1_000_000).publisher
    #expect(numbers.handleEvents(receiveOutput: { _ in }).pulled(.requesting) == 1_000_000)
    #expect(numbers.measureInterval(using: time).pulled(.answering) == 1_000_000)
  }
}

private final class Lines: TextOutputStream {
  var text = ""
  func write(_ string: String) { text += string }
}
