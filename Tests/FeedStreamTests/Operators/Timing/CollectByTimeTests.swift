import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct CollectByTimeTests {
  @Test func `collect(.byTime) delivers an array per interval`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b-c-----------d|").collect(.byTime(time, .milliseconds(4))).record(on: time)
      time.run()
      #expect(recorder.values == [["a", "b"], ["c"], ["d"]])
      recorder.expect("----x---c---------(d|)", values: ["x": ["a", "b"], "c": ["c"], "d": ["d"]])
    }
  }

  @Test func `collect(.byTimeOrCount) also delivers an array when it is full`() {
    withVirtualTime { time in
      let recorder = time.hot("-abcd--e|").collect(.byTimeOrCount(time, .milliseconds(6), 3)).record(on: time)
      time.run()
      recorder.expect("---x--d-(e|)", values: ["x": ["a", "b", "c"], "d": ["d"], "e": ["e"]])
    }
  }

  @Test func `collect(.byTime) holds values until they are requested, then the completion`() {
    withVirtualTime { time in
      let recorder = time.hot("-a-b-c|").collect(.byTime(time, .milliseconds(2))).record(on: time, demand: .max(1))
      time.run()
      recorder.expect("--a", values: ["a": ["a"]])
      recorder.request(.max(1))
      #expect(recorder.values == [["a"], ["b", "c"]])
      #expect(recorder.completion == .finished)
    }
  }

  @Test func `collect(.byTime) requests one value at a time`() {
    withVirtualTime { time in
      var asked: [Subscribers.Demand] = []
      let recorder = time.hot("abc").handleEvents(receiveRequest: { asked.append($0) })
        .collect(.byTime(time, .milliseconds(60))).record(on: time, demand: .none)
      #expect(asked == [.max(1)])
      time.advance(by: .milliseconds(10))
      #expect(asked == [.max(1), .max(1), .max(1), .max(1)])
      recorder.cancel()
    }
  }

  @Test func `values sent at once fill as many arrays as possible`() {
    withVirtualTime { time in
      let numbers = PassthroughSubject<Int, Never>()
      let arrays = numbers.collect(.byTimeOrCount(time, .seconds(1), 2))
      let (all, four, pulled) = (
        arrays.record(on: time), arrays.record(on: time, demand: .max(4)), arrays.record(on: time, demand: .oneByOne)
      )
      for number in 1...8 { numbers.send(number) }
      time.advance(by: .zero)
      #expect(all.values == [[1, 2], [3, 4], [5, 6], [7, 8]])
      #expect(four.values == all.values)
      // Only the values for which there was demand arrive, because the subject keeps none.
      #expect(pulled.values == [[1, 2]])
      for recorder in [all, four, pulled] { recorder.cancel() }
    }
  }

  @Test func `collect(.byTimeOrCount) requests its count per array, less what earlier requests left over`() {
    withVirtualTime { time in
      var asked: [Subscribers.Demand] = []
      let numbers = PassthroughSubject<Int, Never>()
      let recorder = numbers.handleEvents(receiveRequest: { asked.append($0) })
        .collect(.byTimeOrCount(time, .seconds(1), 3))
        .record(on: time, demand: DemandScript(initial: .max(2), answers: [.max(1)]))
      #expect(asked == [.max(6)])
      for number in 1...3 { numbers.send(number) }
      time.advance(by: .zero)
      #expect(recorder.values == [[1, 2, 3]])
      #expect(asked == [.max(6), .max(3)])
      numbers.send(4)
      // Of the three values that were requested for this array, one has arrived.
      time.advance(by: .seconds(1))
      #expect(recorder.values == [[1, 2, 3], [4]])
      #expect(asked == [.max(6), .max(3), .max(1)])
      recorder.cancel()
    }
  }

  @Test func `collect(.byTimeOrCount) requests nothing before the subscriber does`() {
    withVirtualTime { time in
      var asked: [Subscribers.Demand] = []
      let recorder = time.hot("abcde").handleEvents(receiveRequest: { asked.append($0) })
        .collect(.byTimeOrCount(time, .milliseconds(60), 3)).record(on: time, demand: .none)
      #expect(asked == [])
      recorder.request(.max(1))
      #expect(asked == [.max(3)])
      recorder.request(.unlimited)
      #expect(asked == [.max(3), .unlimited])
      time.advance(by: .milliseconds(10))
      #expect(recorder.values == [["a", "b", "c"]])
      recorder.cancel()
    }
  }

  @Test func `collect(.byTime) completes on its scheduler`() {
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

  @Test func `collect(.byTime) drops its values when upstream fails`() {
    withVirtualTime { time in
      let recorder = time.hot("-a#").collect(.byTime(time, .milliseconds(4))).record(on: time)
      time.run()
      recorder.expect("--#")
    }
  }
}
