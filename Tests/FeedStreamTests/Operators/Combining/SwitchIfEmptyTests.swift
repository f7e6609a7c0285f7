import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SwitchIfEmptyTests {
  @Test func `switchIfEmpty continues with the other publisher when upstream finishes without a value`() {
    withVirtualTime { time in
      let empty = time.cold("--|").switchIfEmpty(time.cold("-x|")).record(on: time)
      let full = time.cold("-a|").switchIfEmpty(time.cold("-x|")).record(on: time)
      let failing = time.cold("-#").switchIfEmpty(time.cold("-x|")).record(on: time)
      time.run()
      empty.expect("---x|")
      full.expect("-a|")
      failing.expect("-#")
    }
  }

  @Test func `switchIfEmpty passes the remaining demand to the other publisher`() {
    withVirtualTime { time in
      let recorder = time.cold("|").switchIfEmpty(time.cold("xyz|")).record(on: time, demand: .max(2))
      time.run()
      recorder.expect("xy")
      recorder.cancel()
    }
  }

  @Test func `switchIfEmpty mixes publishers that can and can't fail`() {
    let failing = Fail<Int, Boom>(error: Boom())
    #expect(Empty<Int, Never>().switchIfEmpty(failing).record().failure == Boom())
    #expect(Empty<Int, Boom>().switchIfEmpty(Just(1)).record().values == [1])
  }
}
