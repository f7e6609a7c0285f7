import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ReplaceEmptyTests {
  @Test func `replaceEmpty delivers its value when requested, if upstream finishes without values`() {
    withVirtualTime { time in
      let empty = time.cold("-|").replaceEmpty(with: "z").record(on: time, demand: .none)
      let full = time.cold("a|").replaceEmpty(with: "z").record(on: time)
      time.advance(by: .milliseconds(2))
      empty.expect("")
      empty.request(.max(1))
      empty.expect("--(z|)")
      full.expect("a|")
    }
  }

  @Test func `replaceEmpty never delivers more than was requested`() {
    let subject = PassthroughSubject<Int, Boom>()
    let recorder = subject.replaceEmpty(with: 0).record(demand: .max(1))
    for value in 1...3 { subject.send(value) }
    #expect(recorder.values == [1])
  }
}
