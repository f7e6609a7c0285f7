import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RetryWhenTests {
  @Test func `retry(when:) tries again with each value of the handler's publisher`() {
    withVirtualTime { time in
      let recorder = time.cold("a#").retry(when: {
        $0.delay(for: .milliseconds(2), scheduler: time).setFailureType(to: MarbleFailure.self)
      })
      .record(on: time, demand: .max(3))
      time.advance(by: .milliseconds(9))
      recorder.cancel()
      recorder.expect("a--a--a")
    }
  }

  @Test func `retry(when:) ends as the handler's publisher does`() {
    withVirtualTime { time in
      let recorder = time.cold("-a#").retry(when: { $0.delay(for: .milliseconds(2), scheduler: time).prefix(1) })
        .record(
          on: time)
      time.run()
      recorder.expect("-a--|")
    }
  }

  @Test func `retry(when:) hands the handler every failure`() {
    withVirtualTime { time in
      var failures: [MarbleFailure] = []
      let recorder = time.cold("#").retry(
        when: { errors in
          errors.handleEvents(receiveOutput: { failures.append($0) }).delay(for: .milliseconds(1), scheduler: time)
        }
      ).record(on: time)
      time.advance(by: .milliseconds(3))
      recorder.cancel()
      #expect(failures.count == 4)
      // What the handler had scheduled runs empty.
      time.run()
    }
  }
}
