import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ShareTests {
  @Test func `the last subscriber's cancellation stops upstream, and a later subscriber starts it again`() {
    var active = 0
    let source = PassthroughSubject<Int, Never>()
    let shared = source.handleEvents(receiveSubscription: { _ in active += 1 }, receiveCancel: { active -= 1 }).share()
    let first = shared.record()
    let second = shared.record()
    first.cancel()
    first.cancel()
    #expect(active == 1)
    second.cancel()
    #expect(active == 0)
    let third = shared.record()
    source.send(1)
    #expect(third.values == [1])
    #expect(active == 1)
  }

  @Test func `share(replay:) delivers the last values to later subscribers first`() {
    let source = PassthroughSubject<Int, Never>()
    let shared = source.share(replay: 2)
    let early = shared.record()
    for value in 1...3 { source.send(value) }
    let late = shared.record()
    source.send(completion: .finished)
    early.expect("(123|)")
    late.expect("(23|)")
    shared.record().expect("(23|)")
  }
}
