import FeedStream
import TestSupport
import Testing

@testable import FeedStreamTesting

@Suite(.settled) struct MarbleTests {
  private func read(_ text: String) throws -> [String] {
    try Marbles(text).marbles.map { "\($0.time.nanoseconds.asTime) \($0.symbol)" }
  }

  @Test func `a character takes one frame`() throws {
    #expect(try read("a-b|") == ["0s value(\"a\")", "2ms value(\"b\")", "3ms finished"])
    #expect(try Marbles("-#", frame: 1).marbles.map(\.time) == [1])
  }

  @Test func `a group happens at one instant and takes one frame`() throws {
    #expect(try read("-(ab)c") == ["1ms value(\"a\")", "1ms value(\"b\")", "2ms value(\"c\")"])
  }

  @Test func `a time literal is the time between two events`() throws {
    #expect(try read("a 100ms b") == ["0s value(\"a\")", "100ms value(\"b\")"])
    #expect(try read("1.5s b 1m 30s |") == ["1.5s value(\"b\")", "91.5s finished"])
    #expect(try read("10ms") == [])
    #expect(try read("x10ms").count == 5)
  }

  @Test func `a line may end with CRLF`() throws {
    #expect(try read("a\r\n-b\r\n|") == ["0s value(\"a\")", "2ms value(\"b\")", "3ms finished"])
    let error = #expect(throws: MarbleError.self) { try Marbles("a\r\n)") }
    #expect("\(error!)".hasSuffix("\n  )\n  ^ there is no group to close; write ( first"))
  }

  @Test func `the caret is time zero, and events before it have negative times`() throws {
    #expect(try read("ab^c") == ["-2ms value(\"a\")", "-1ms value(\"b\")", "1ms value(\"c\")"])
  }

  @Test(arguments: [
    ("a-(b(c))", 4, "a group within a group; close the first one with ) before this one"),
    ("a-b)", 3, "there is no group to close; write ( first"),
    ("a-(bc|", 2, "this group is not closed; add a )"),
    ("a()", 2, "an empty group; write what happens between ( and ), or - instead"),
    ("(a-b)", 2, "no time passes in a group; close it with ) first"),
    ("a|-b", 3, "the stream has already completed at character 2; remove what follows"),
    ("a 10sec b", 4, "sec is not a unit of time; use ns, us, µs, ms, s, m, h, d, or a - between values"),
    ("a 1.2.3s b", 2, "1.2.3 is not a number"),
    ("a 999999999999d b", 2, "virtual time does not last that long; use less than 100000d in all"),
    ("60000d a 60000d b", 9, "virtual time does not last that long; use less than 100000d in all"),
    ("a -100ms b", 2, "time cannot go back; remove the -, or put a space after it if you mean a frame"),
    ("-5s", 0, "time cannot go back; remove the -, or put a space after it if you mean a frame"),
    ("a^b^", 3, "the test already begins at the first ^; remove one"),
  ])
  func `a parsing error points at the wrong character`(_ text: String, _ offset: Int, _ reason: String) {
    #expect(throws: MarbleError(text: text, offset: offset, reason: reason)) { try Marbles(text) }
  }

  @Test func `a parsing error is marked below the text`() {
    let error = #expect(throws: MarbleError.self) { try Marbles("a-b)") }
    #expect(
      "\(error!)" == """
        This marble diagram cannot be read:
          a-b)
             ^ there is no group to close; write ( first
        """)
  }

  @Test func `a parsing error in a multiline diagram is marked below its own line`() {
    let error = #expect(throws: MarbleError.self) { try Marbles("a-b\n-c)\n-d") }
    #expect(
      "\(error!)" == """
        This marble diagram cannot be read:
          a-b
          -c)
            ^ there is no group to close; write ( first
          -d
        """)
  }

  @Test func `an error is marked below its character even after wide characters and tabs`() {
    let wide = #expect(throws: MarbleError.self) { try Marbles("日😀-)") }
    #expect("\(wide!)".hasSuffix("\n  日😀-)\n       ^ there is no group to close; write ( first"))
    let tab = #expect(throws: MarbleError.self) { try Marbles("a\t)") }
    #expect("\(tab!)".hasSuffix("\n  a\t)\n   \t^ there is no group to close; write ( first"))
  }

  @Test func `each character names one value, and notation can't name values`() {
    let time = VirtualTimeScheduler()
    typealias Source = ScriptedPublisher<Int, MarbleFailure>
    let failures = failures {
      let _: Source = time.cold("ba|", values: ["a": 1, "b": 1, "a": 2])
      let _: Source = time.cold("a-|", values: ["a": 1, "-": 2])
      let _: Source = time.cold("a|", values: ["a": 1, "-": 2, "a": 1])
    }
    #expect(failures.map(\.line) == [#line - 4, #line - 3])
    #expect(failures[0].message.hasSuffix("\n   ^ a stands for 1 and for 2; keep one of them in values:"))
    #expect(failures[1].message.contains("\n   ^ - is part of the notation and cannot stand for a value"))
  }

  @Test func `values with line breaks are escaped as in Swift`() {
    let time = VirtualTimeScheduler()
    let failures = failures {
      expectMarbles(Just("two\nlines"), on: time, "(a|)", values: ["a": "one"])
    }
    #expect(
      failures[0].message == """
        The stream differs from the diagram at 0s:
        expected  (a|)
        actual    (‹two\\nlines›|)
                  ^
        a is one
        To paste: "(b|)", and in values: ["b": "two\\nlines"]
        """)
  }

  @Test func `the legend states the expected failure`() {
    struct Trouble: Error, Equatable { var code: Int }
    let time = VirtualTimeScheduler()
    let failures = failures {
      expectMarbles(Fail<Int, Trouble>(error: Trouble(code: 1)), on: time, "#", failure: Trouble(code: 2))
    }
    #expect(failures[0].message.contains("expected  #\nactual    #Trouble(code: 1)\n"))
    #expect(failures[0].message.contains("\n# is Trouble(code: 2)\nTo paste: \"#\", failure: "))
  }

  @Test func `an invalid diagram fails the test on its line`() {
    let time = VirtualTimeScheduler()
    let failures = failures {
      let _: ScriptedPublisher<Int, MarbleFailure> = time.cold("1-x|")
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(failures[0].message.contains("  ^ say what x stands for: values: [\"x\": …], of type Int"))
  }

  @Test func `the expected stream is drawn above the actual one`() {
    let time = VirtualTimeScheduler()
    let source: ScriptedPublisher<Character, MarbleFailure> = time.cold("a-b 100ms (xy)|")
    let failures = failures { expectMarbles(source, on: time, "a-c 100ms (xy)-|") }
    #expect(failures.map(\.line) == [#line - 1])
    #expect(
      failures[0].message == """
        The stream differs from the diagram at 2ms:
                  0s 2ms 102ms 103ms 104ms
        expected  a--c---(xy)--------|
        actual    a--b---(xy)--|
                     ^
        To paste: "a-b 100ms (xy)|"
        """)
  }

  @Test(.timeLimit(.minutes(5))) func `of an endless stream, only the instants around the difference are drawn`() {
    let time = VirtualTimeScheduler()
    time.workLimit = 50_000
    let failures = failures {
      expectMarbles(Interval(every: 1, scheduler: time).map { _ in "a" }, on: time, "1s a 1s a 1s |")
      expectMarbles(Array(repeating: "a", count: 50_000).publisher, on: time, "(ab)")
    }
    #expect(failures.count == 2)
    let lines = failures[0].message.split(separator: "\n")
    #expect(lines[0] == "The stream differs from the diagram at 3s:")
    #expect(lines[2] == "expected  ---a--a--|")
    #expect(lines[3].hasPrefix("actual    ---a--a--a--a--"))
    #expect(lines[4] == "                   ^")
    #expect(lines[5].hasPrefix("(20 of 50033 instants are drawn; 0 are before them, 50013 after them)"))
    #expect(lines[6].hasPrefix("50000 pieces of work ran in one run(), and more are pending"))
    #expect(failures[1].message.contains("a… 50001 in all …|)"))
  }

  @Test func `the columns of a drawn stream are frames, as in the diagram`() {
    let time = VirtualTimeScheduler()
    let failures = failures {
      expectMarbles(time.cold("a-(bc)--d|"), on: time, "a-b--(de)-|")
      expectMarbles(time.cold("1-2|", of: Int.self).map { $0 * 10 }, on: time, "---x", values: ["x": 20])
    }
    let linesAbove = failures.map { UInt(#line) - $0.line }
    #expect(linesAbove == [3, 2])
    #expect(
      failures.map(\.message) == [
        """
        The stream differs from the diagram at 2ms:
        expected  a-b   --(de)-|
        actual    a-(bc)--d   |
                    ^
        To paste: "a-(bc)--d|"
        """,
        """
        The stream differs from the diagram at 0s:
        expected  -   --x
        actual    ‹10›-x|
                  ^
        x is 20
        To paste: "a-x|", and in values: ["a": 10]
        """,
      ])
  }

  @Test func `the text to paste parses to the recorded stream`() {
    let time = VirtualTimeScheduler()
    func paste(_ marbles: String, frame: StreamInstant.Stride = .milliseconds(1)) -> String {
      let recorder = time.hot(marbles, frame: frame).record(on: time)
      time.run()
      let text = recorder.marbles(frame: frame)
      let copy = time.hot(text, frame: frame).record(on: time)
      time.run()
      copy.expect(text, frame: frame)
      #expect(copy.marbles == recorder.marbles)
      return text
    }
    #expect(paste("a-(bc)-|") == "a-(bc)-|")
    #expect(paste("500ms a 2s b#") == "500ms a 2s b#")
    #expect(paste("a 300us b|") == "a 300µs b|")
    #expect(paste("(5)s") == "(5)s")
    #expect(paste("--") == "-")
    #expect(paste("a--b|", frame: 1) == "a--b|")
  }

  @Test func `a value that reads as notation or another name gets its own name`() {
    let time = VirtualTimeScheduler()
    let recorder = ["-", "a", "x"].publisher.record(on: time)
    let failures = failures { recorder.expect("a", values: ["a": "x"]) }
    #expect(failures[0].message.contains("\nactual    (‹-›‹a›a|)\n"))
    #expect(failures[0].message.hasSuffix("\nTo paste: \"(bca|)\", and in values: [\"b\": \"-\", \"c\": \"a\"]"))
  }

  @Test func `a missing event's failure lists the pending work`() {
    let time = VirtualTimeScheduler()
    let recorder = time.cold("a-b|").record(on: time)
    time.advance(by: .milliseconds(1))
    let failures = failures { recorder.expect("a-b|") }
    #expect(failures.count == 1)
    #expect(failures[0].message.contains("\nThe time is 1ms, and work is pending: 2ms: "))
    #expect(failures[0].message.hasSuffix("Advance time, or call run()."))
    recorder.cancel()
  }

  @Test func `a stream that waits for something outside virtual time is reported, with nothing to paste`() {
    let time = VirtualTimeScheduler()
    let (loop, other) = (EventLoop(), PassthroughSubject<Int, Never>())
    let delayed = time.hot("a|").delay(for: .milliseconds(10), scheduler: loop).record(on: time)
    let windows = other.window(2).recordStreams(on: time)
    time.run()
    let failures = failures {
      delayed.expect("10ms (a|)")
      windows.expect("x", streams: ["x": "-"])
    }
    #expect(failures.count == 2)
    for failure in failures {
      #expect(failure.message.contains("\nNo work is left in virtual time, but the stream is still live. If it waits"))
      #expect(!failure.message.contains("To paste"))
    }
    delayed.cancel()
    windows.cancel()
  }

  @Test func `names of values may be given for some characters, or as a dictionary`() {
    let time = VirtualTimeScheduler()
    let names = ["x": "one", "y": "two"] as [Character: String]
    expectMarbles(time.cold("x-a|", values: ["x": "one"]), on: time, "x-a|", values: names)
    let recorder = time.cold("y-#", values: names).record(on: time)
    time.run()
    recorder.expect("y-#", values: names)
    expectMarbles(time.cold("1-x|", values: ["x": 20]).map { $0 + 1 }, on: time, "2-x|", values: ["x": 21])
  }

  @Test func `expectMarbles fails if there is no subscription`() {
    let time = VirtualTimeScheduler()
    let failures = failures {
      expectMarbles(Silent(), on: time, "-")
      expectMarbles(Silent(), on: time, during: "^--!", "-")
    }
    #expect(failures.map(\.message) == Array(repeating: "The publisher delivered no subscription.", count: 2))
    let late = Just(1).delaySubscription(for: .seconds(1), scheduler: time)
    expectMarbles(late, on: time, during: "^--!", "-")
  }

  @Test func `an invalid diagram is the test's only failure`() {
    let failures = failures {
      withVirtualTime { time in
        let source = time.hot("a-b)")
        let recorder = source.merge(with: time.hot("-c|")).record(on: time)
        time.run()
        recorder.expect("acb|")
      }
    }
    #expect(failures.map(\.line) == [#line - 6])
    #expect(failures[0].message.contains("there is no group to close"))
  }

  @Test func `equal streams pass, however their diagrams are written`() {
    let time = VirtualTimeScheduler()
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("1-2(34)#")
    expectMarbles(source.map { $0 * 10 }, on: time, "a 2ms b(cd)#", values: ["a": 10, "b": 20, "c": 30, "d": 40])
  }

  @Test func `values that would merge with others in a diagram get letters`() {
    let recorder = ["🇩", "🇪", "e", "\u{301}"].publisher.record(on: VirtualTimeScheduler())
    #expect(recorder.marbles(frame: 1) == "(abec|)")
  }

  @Test func `a recording prints as text`() {
    let time = VirtualTimeScheduler()
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("1-2(34)#")
    let recorder = source.map { $0 * 5 }.record(on: time)
    time.run()
    #expect(
      recorder.marbles == """
          0s 2ms  3ms        4ms
          5--‹10›-(‹15›‹20›)-#
        """)
  }
}
