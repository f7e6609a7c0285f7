import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PrefixWhileTests {
  @Test func `prefix(while:) finishes at the first value that doesn't match`() {
    withVirtualTime { time in
      let recorder = time.cold("abcab|").prefix { $0 < "c" }.record(on: time)
      time.run()
      recorder.expect("ab|")
    }
  }

  @Test func `tryPrefix fails with the error that its predicate throws`() {
    withVirtualTime { time in
      let recorder = time.cold("abc|").tryPrefix { $0 < "b" ? true : try { throw MarbleFailure() }() }.record(on: time)
      time.run()
      recorder.expect("a#")
    }
  }

  @Test func `inclusive prefix(while:) delivers the first value that doesn't match`() {
    withVirtualTime { time in
      let recorder = time.cold("abcd|").prefix(while: { $0 < "c" }, inclusive: true).record(on: time)
      time.advance(by: .milliseconds(5))
      recorder.expect("ab(c|)")
      let exclusive = time.cold("abcd|").prefix(while: { $0 < "c" }, inclusive: false).record(on: time)
      time.advance(by: .milliseconds(5))
      #expect(exclusive.values == ["a", "b"])
    }
  }

  @Test func `nothing follows the inclusive last value, even if it is sent during its delivery`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.prefix(while: { $0 < 2 }, inclusive: true).record()
    recorder.onValue = { if $0 == 2 { subject.send(0) } }
    subject.send(1)
    subject.send(2)
    #expect(recorder.values == [1, 2])
    #expect(recorder.completion == .finished)
  }
}
