import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct StreamRecordingTests {
  let time = VirtualTimeScheduler()

  @Test func `windows are compared with their own diagrams`() {
    let windows = time.hot("-a-b---c---|").window(2).recordStreams(on: time)
    time.run()
    windows.expect("-x-----y---|", streams: ["x": "a-(b|)", "y": "c---|"])
  }

  @Test func `groups are compared with their own diagrams, and have their keys`() {
    let groups = time.hot("--1--2--3--4--|", of: Int.self).groupBy { $0 % 2 }.recordStreams(on: time)
    time.run()
    groups.expect("--o--e--------|", streams: ["o": "1-----3-----|", "e": "2-----4--|"])
    #expect(groups.values.map(\.stream.key) == [1, 0])
  }

  @Test func `inner streams may be equal, empty or fail`() {
    let sources = [time.cold("--|"), time.cold("1-#"), time.cold("--|")]
    let source = time.cold("0-1-2|", of: Int.self).map { sources[$0] }
    expectMarbles(source, on: time, "x-y-x|", streams: ["x": "--|", "y": "1-#"])
  }

  @Test func `a difference in an inner stream is drawn at its place`() {
    let failures = failures {
      expectMarbles(
        time.cold("-a-b---c---|").window(2), on: time, "-x-----y---|", streams: ["x": "a-(b|)", "y": "d---|"])
      expectMarbles(
        time.cold("1-2|", of: Int.self).map { [$0, $0 * 10].publisher }, on: time, "x|", streams: ["x": "(1b|)"],
        values: ["b": 10])
    }
    #expect(
      failures.map(\.message) == [
        """
        The streams differ from the diagrams at 7ms:
        expected  -x--   ---y---|
          x        a-(b|)
          y                 d---|
        actual    -x--   ---y---|
          x        a-(b|)
          y                 c---|
                            ^
        To paste: "-x-----y---|", streams: ["x": "a-(b|)", "y": "c---|"]
        """,
        """
        The streams differ from the diagrams at 1ms:
        expected  x    |
          x       (1b|)
        actual    x    -a       |
          x       (1b|)
          a             (2‹20›|)
                       ^
        b is 10
        To paste: "x-a|", streams: ["x": "(1b|)", "a": "(2a|)"], and in values: ["a": 20]
        """,
      ])
  }

  @Test func `a difference between values that look the same is explained`() {
    final class Model {}
    let (one, other) = (Model(), Model())
    let failures = failures {
      expectMarbles(Just(Just(one)), on: time, "(x|)", streams: ["x": "(a|)"], values: ["a": other])
    }
    #expect(failures.count == 1)
    #expect(failures[0].message.contains("\nValues that look the same contain different objects or closures: "))
  }

  @Test func `an inner stream without a diagram fails, pointing at its character`() {
    let failures = failures { expectMarbles(Just(Just(1)), on: time, "(xy)", streams: ["x": "(1|)"]) }
    #expect(failures.count == 1)
    #expect(failures[0].message.hasSuffix("\n    ^ say which stream y is: streams: [\"y\": \"…\"]"))
  }

  @Test func `two diagrams for one inner stream fail`() {
    let failures = failures {
      expectMarbles(Just(Just(1)), on: time, "(x|)", streams: ["x": "(1|)", "x": "(2|)"])
    }
    #expect(failures.count == 1)
    #expect(failures[0].message.hasSuffix("^ x stands for \"(1|)\" and for \"(2|)\"; keep one of them in streams:"))
  }

  @Test func `a stream of streams without a subscription fails`() {
    let failures = failures { expectMarbles(Silent().map { Just($0) }, on: time, "-", streams: [:]) }
    #expect(failures.map(\.message) == ["The publisher delivered no subscription."])
  }

  @Test func `cancelledAtEnd() cancels inner streams at the end of the test`() {
    withVirtualTime { time in
      let letters = PassthroughSubject<String, Never>()
      let groups = letters.groupBy { $0.count }.recordStreams(on: time).cancelledAtEnd()
      letters.send("a")
      groups.expect("x", streams: ["x": "a"])
    }
  }
}
