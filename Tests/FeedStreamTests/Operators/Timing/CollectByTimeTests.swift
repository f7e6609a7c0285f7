import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CollectByTimeTests {
  @Test func `collect by time makes an array of each stretch`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b-c-----------d|").collect(.byTime(time, .milliseconds(4))).record(on: time)
      time.run()
      #expect(recorder.values == [["a", "b"], ["c"], ["d"]])
      recorder.expect("----x---c---------(d|)", values: ["x": ["a", "b"], "c": ["c"], "d": ["d"]])
    }
  }

  @Test func `collect by time or count makes an array when there is enough`() {
    withVirtualTime { time in
      let recorder = time.hot("-abcd--e|").collect(.byTimeOrCount(time, .milliseconds(6), 3)).record(on: time)
      time.run()
      recorder.expect("---x--d-(e|)", values: ["x": ["a", "b", "c"], "d": ["d"], "e": ["e"]])
    }
  }

  @Test func `collect by time keeps what is not asked for, the ending behind it`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b-c|").collect(.byTime(time, .milliseconds(2))).record(on: time, demand: .max(1))
      time.run()
      recorder.expect("--a", values: ["a": ["a"]])
      recorder.request(.max(1))
      #expect(recorder.values == [["a"], ["b", "c"]])
      #expect(recorder.completion == .finished)
    }
  }

  @Test func `collect by time or count asks upstream for full arrays`() {
    withVirtualTime { time in
      var asked: [Subscribers.Demand] = []
      let recorder = time.hot("").handleEvents(receiveRequest: { asked.append($0) })
        .collect(.byTimeOrCount(time, .milliseconds(6), 3)).record(on: time, demand: .max(2))
      recorder.request(.max(1))
      #expect(asked == [.max(6), .max(3)])
      recorder.cancel()
    }
  }

  @Test func `collect by time drops what it has when upstream fails`() {
    withVirtualTime { time in
      let recorder = time.hot("-a#").collect(.byTime(time, .milliseconds(4))).record(on: time)
      time.run()
      recorder.expect("--#")
    }
  }
}
