import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SampleTests {
  @Test func `sample delivers the latest value once`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b-----c-d-|").sample(every: .milliseconds(4), scheduler: time).record(on: time)
      time.run()
      recorder.expect("----b-------d|")
    }
  }

  @Test func `sample holds the latest value until it is requested`() {
    let subject = PassthroughSubject<Character, Never>()
    let trigger = PassthroughSubject<Void, Never>()
    let recorder = subject.sample(on: trigger).record(demand: .none)
    subject.send("a")
    trigger.send()
    recorder.request(.max(1))
    recorder.expect("")
    trigger.send()
    recorder.expect("a")
    trigger.send(completion: .finished)
    recorder.expect("(a|)")
  }
}
