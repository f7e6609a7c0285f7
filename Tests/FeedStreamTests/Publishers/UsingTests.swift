import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct UsingTests {
  @Test func `Using's resource lives from the subscription to its end`() {
    var open = 0
    let subject = PassthroughSubject<Int, Never>()
    let publisher = Publishers.using {
      open += 1
    } dispose: {
      open -= 1
    } publisher: {
      subject
    }
    #expect(open == 0)
    let first = publisher.record()
    let second = publisher.record()
    #expect(open == 2)
    first.cancel()
    first.cancel()
    #expect(open == 1)
    subject.send(completion: .finished)
    second.cancel()
    #expect(open == 0)
  }

  @Test func `Using disposes once, even if dispose cancels`() {
    for ends in [true, false] {
      let source = PassthroughSubject<Int, Never>()
      var disposals = 0
      var cancellable: AnyCancellable?
      cancellable = Publishers.using {
        1
      } dispose: { _ in
        disposals += 1
        cancellable?.cancel()
      } publisher: { _ in
        source
      }.sink { _ in }
      if ends { source.send(completion: .finished) } else { cancellable?.cancel() }
      #expect(disposals == 1)
      cancellable = nil
      #expect(disposals == 1)
    }
  }
}
