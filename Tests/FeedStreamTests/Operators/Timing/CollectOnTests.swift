import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CollectOnTests {
  @Test func `buffer(on:) delivers what arrived since the last trigger`() {
    let trigger = PassthroughSubject<Void, Never>()
    let subject = PassthroughSubject<Character, Never>()
    let recorder = subject.buffer(on: trigger).record()
    for value in "ab" { subject.send(value) }
    trigger.send()
    trigger.send()
    subject.send("c")
    trigger.send(completion: .finished)
    #expect(recorder.values == [["a", "b"], ["c"]])
    #expect(recorder.completion == .finished)
  }
}
