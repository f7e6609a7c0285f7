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

  @Test func `collect by time asks for one value at a time, and waits with a full array that nobody asked for`() {
    withVirtualTime { time in
      var asked = 0
      let recorder = time.hot("abcde").handleEvents(receiveRequest: { asked += $0.max ?? 1_000 })
        .collect(.byTimeOrCount(time, .milliseconds(60), 3)).record(on: time, demand: .none)
      #expect(asked == 1)
      time.advance(by: .milliseconds(10))
      #expect(asked == 3)
      recorder.request(.max(1))
      #expect(recorder.values == [["a", "b", "c"]])
      #expect(asked == 4)
      recorder.cancel()
    }
  }

  @Test func `collect by time ends on its scheduler`() {
    withVirtualTime { time in
      let letters = PassthroughSubject<String, Never>()
      let recorder = letters.collect(.byTime(time, .milliseconds(4))).record(on: time)
      letters.send("a")
      letters.send(completion: .finished)
      #expect(recorder.values == [])
      time.run()
      recorder.expect("(x|)", values: ["x": ["a"]])
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
