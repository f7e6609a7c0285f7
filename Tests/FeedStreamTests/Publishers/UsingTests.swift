import FeedStream
import TestSupport
import Testing

@Suite("using", .settled) struct UsingTests {
  private let time = MarbleTime()

  @Test func `disposes once, though disposing cancels`() {
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

  @Test func `a handler of events that cancels is not called again, and nothing follows`() {
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
}
