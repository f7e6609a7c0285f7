import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct ReplaceErrorTests {
  @Test func `replaceError delivers a value in place of the failure`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").replaceError(with: "z").record(on: time)
      time.advance(by: .milliseconds(2))
      recorder.expect("a(z|)")
    }
  }

  @Test func `replaceError holds its value until it is requested`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").replaceError(with: "z").record(on: time, demand: .max(1))
      time.advance(by: .milliseconds(3))
      recorder.expect("a")
      recorder.request(.max(1))
      recorder.expect("a--(z|)")
    }
  }

  @Test func `demand returned during a failing value is met by the replacement`() {
    let subject = PassthroughSubject<Character, MarbleFailure>()
    let recorder = subject.replaceError(with: "z").record(demand: .oneByOne)
    recorder.onValue = { if $0 == "a" { subject.send(completion: .failure(MarbleFailure())) } }
    subject.send("a")
    recorder.expect("(az|)")
  }

  @Test func `replaceError doesn't finish for a subscriber that cancels on its value`() {
    withVirtualTime { time in
      let recorder = time.cold("-#").replaceError(with: "z").record(on: time)
      recorder.onValue = { _ in recorder.cancel() }
      time.advance(by: .milliseconds(1))
      recorder.expect("-z")
    }
  }
}
