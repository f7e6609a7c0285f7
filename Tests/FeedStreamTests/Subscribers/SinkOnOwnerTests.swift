import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SinkOnOwnerTests {
  @Test func `a sink on an owner doesn't retain the owner that keeps it`() {
    weak var gone: Owner?
    let subject = PassthroughSubject<Int, Never>()
    do {
      let owner = Owner()
      gone = owner
      owner.cancellable = subject.sink(on: owner) { owner, value in owner.seen.append(value) }
      subject.send(1)
      #expect(owner.seen == [1])
    }
    #expect(gone == nil)
  }

  @Test func `a value that arrives after the owner's release cancels the subscription`() {
    var isCancelled = false
    let subject = PassthroughSubject<Int, Never>()
    var owner: Owner? = Owner()
    let cancellable = subject.handleEvents(receiveCancel: { isCancelled = true })
      .sink(on: owner!) { _, _ in Issue.record("the owner is gone") }
    owner = nil
    subject.send(1)
    #expect(isCancelled)
    withExtendedLifetime(cancellable) {}
  }
}

private final class Owner {
  var seen: [Int] = []
  var cancellable: AnyCancellable?
}
