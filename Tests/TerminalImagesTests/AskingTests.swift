import FeedStream
import FeedStreamTesting
import TerminalImages
import TestSupport
import Testing

@Suite(.settled) struct AskingTests {
  private let xterm = ["TERM": "xterm-256color"]

  /// A terminal that replies to the queries that it supports, and a program that sends them.
  private final class Asked {
    var events: [TerminalEvent] = []
    var sent: [UInt8] = []
    var completion: Subscribers.Completion<SystemError>?
    var subscription: AnyCancellable?

    init(
      _ time: VirtualTimeScheduler, _ environment: [String: String],
      answering answers: [(after: StreamInstant.Stride, bytes: Chunk)]
    ) throws {
      let terminal = try Terminal(on: time)
      subscription = terminal.events(
        asking: TerminalQuestion(environment: environment), knowing: TerminalAbilities(environment: environment),
        deadline: .seconds(1), on: time
      ) { bytes in
        self.sent += bytes
        #expect(time.terminal.isRaw, "an answer would show on the screen")
        for answer in answers {
          time.schedule(after: time.now.advanced(by: answer.after)) { time.terminal.press(answer.bytes) }
        }
      }
      .sink {
        self.completion = $0
      } receiveValue: {
        self.events.append($0)
      }
    }

    var abilities: [TerminalAbilities] {
      events.compactMap { if case .abilities(let abilities) = $0 { abilities } else { nil } }
    }
    var keys: [TerminalKey] { events.compactMap { if case .key(let key) = $0 { key } else { nil } } }
  }

  @Test func `a terminal's replies state sixel support, the number of colors and the size of characters`() throws {
    try withVirtualTime { time in
      let asked = try Asked(
        time, xterm,
        answering: [
          (.milliseconds(5), "\u{1B}[6;18;9t\u{1B}[?1;0;1024S\u{1B}]11;rgb:ffff/ffff/eeee\u{1B}\\"),
          (.milliseconds(9), "\u{1B}P1$r0;48:2::1:2:3m\u{1B}\\\u{1B}[?62;4;22c"),
        ])
      time.advance(by: .milliseconds(20))
      var expected = TerminalAbilities(environment: xterm)
      (expected.hasAnswered, expected.sixel, expected.sixelColors) = (true, true, 1024)
      (expected.cell, expected.background, expected.depth) = (CellSize(width: 9, height: 18), RGB(255, 255, 238), .full)
      #expect(asked.abilities == [expected])
      #expect(expected.mode == .sixel(colors: 256, on: RGB(255, 255, 238)))
      #expect(expected.isLight)
      #expect(asked.keys == [])
      asked.subscription = nil
      #expect(!time.terminal.isRaw)
    }
  }

  @Test func `kitty graphics are preferred to sixels`() throws {
    try withVirtualTime { time in
      let asked = try Asked(
        time, xterm, answering: [(.milliseconds(1), "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;4c")])
      time.advance(by: .milliseconds(20))
      #expect(asked.abilities.map(\.mode) == [.kitty])
      asked.subscription = nil
    }
  }

  @Test func `a terminal that refuses kitty graphics shows blocks`() throws {
    try withVirtualTime { time in
      let asked = try Asked(
        time, xterm, answering: [(.milliseconds(1), "\u{1B}_Gi=31;EINVAL:no\u{1B}\\\u{1B}[?62;22c")])
      time.advance(by: .milliseconds(20))
      #expect(asked.abilities.map(\.mode) == [.blocks(.palette)])
      asked.subscription = nil
    }
  }

  @Test func `keys pressed between replies are neither lost nor reordered`() throws {
    try withVirtualTime { time in
      let asked = try Asked(
        time, xterm,
        answering: [
          (.milliseconds(1), "a\u{1B}[6;18;9tb\u{1B}[A"), (.milliseconds(2), "\u{1B}[?1;0"),
          (.milliseconds(3), ";16Sc"),
          (.milliseconds(4), "\u{1B}[?62;4c\u{3}"),
        ])
      time.advance(by: .milliseconds(20))
      #expect(asked.keys == [.character("a"), .character("b"), .up, .character("c"), .control("c")])
      #expect(asked.abilities.map(\.mode) == [.sixel(colors: 16)])
      asked.subscription = nil
    }
  }

  @Test func `a silent terminal is awaited for at most a second`() throws {
    try withVirtualTime { time in
      let asked = try Asked(time, xterm, answering: [])
      time.advance(by: .milliseconds(999))
      #expect(asked.abilities == [])
      time.advance(by: .milliseconds(1))
      #expect(asked.abilities.map(\.hasAnswered) == [false])
      time.terminal.press("x")
      time.advance(by: .seconds(5))
      #expect(asked.keys == [.character("x")])
      asked.subscription = nil
    }
  }

  @Test func `a late reply is used, and isn't read as keys`() throws {
    try withVirtualTime { time in
      let asked = try Asked(time, xterm, answering: [(.seconds(3), "\u{1B}[?62;4c\u{1B}[?62;4c")])
      time.advance(by: .seconds(5))
      #expect(asked.abilities.map(\.sixel) == [false, true])
      #expect(asked.keys == [])
      asked.subscription = nil
    }
  }

  @Test func `a reply without a usable value isn't a key, but an unknown key is`() throws {
    try withVirtualTime { time in
      let replies: [Chunk] = [
        "\u{1B}[6;0;0t", "\u{1B}[?1;3;0S", "\u{1B}P0$r\u{1B}\\", "\u{1B}]11;rgba:0/0/0/8\u{1B}\\",
        "\u{1B}_Gi=5;OK\u{1B}\\", "\u{1B}[33~", "\u{1B}[?62c",
      ]
      let asked = try Asked(time, xterm, answering: replies.map { (after: .milliseconds(1), bytes: $0) })
      time.advance(by: .milliseconds(20))
      #expect(asked.keys == [.other("\u{1B}[33~")])
      #expect(asked.abilities.map(\.hasAnswered) == [true])
      asked.subscription = nil
    }
  }

  @Test func `a terminal that would display the query isn't queried`() throws {
    for name in ["dumb", "linux", ""] { #expect(TerminalQuestion(environment: ["TERM": name]) == nil) }
    #expect(TerminalQuestion(environment: ["TERM": "xterm", "TERM_PROGRAM": "Apple_Terminal"]) == nil)
    // tmux treats an application program command as a window title.
    let within = try #require(TerminalQuestion(environment: ["TERM": "screen-256color", "TMUX": "/tmp/x"]))
    #expect(!text(within.bytes).contains("\u{1B}_"))
    #expect(text(within.bytes).hasSuffix("\u{1B}[c"))
    try withVirtualTime { time in
      let asked = try Asked(time, ["TERM": "linux"], answering: [])
      time.advance(by: .zero)
      #expect(asked.abilities.map(\.mode) == [.blocks(.sixteen)])
      #expect(asked.sent == [])
      asked.subscription = nil
    }
  }

  @Test(arguments: [
    (["TERM": "xterm-256color"], ColorDepth.palette), (["TERM": "xterm-256color", "COLORTERM": "truecolor"], .full),
    (["TERM": "xterm-direct"], .full), (["TERM": "dumb", "COLORTERM": "truecolor"], .none),
    (["TERM": "xterm-256color", "COLORTERM": "24bit", "NO_COLOR": "1"], .none), (["TERM": "linux"], .sixteen),
    ([:], .none),
  ])
  func `the environment determines the color depth`(_ environment: [String: String], _ depth: ColorDepth) {
    #expect(TerminalAbilities(environment: environment).depth == depth)
  }

  @Test func `NO_COLOR turns colors off, whatever the terminal supports`() {
    var abilities = TerminalAbilities(environment: ["TERM": "xterm", "NO_COLOR": "1"])
    abilities.take(.fullColor(true))
    #expect(abilities.mode == .dots(onLight: false))
    abilities.take(.background(.white))
    #expect(abilities.mode == .dots(onLight: true))
  }

  @Test(arguments: [
    "\u{1B}[A", "\u{1B}[6;0;0t", "\u{1B}[8;24;80t", "\u{1B}]11;nonsense\u{7}", "\u{1B}]52;c;\u{7}",
    "\u{1B}_Gi=5;OK\u{1B}\\",
    "\u{1B}[?1;3;0S", "\u{1B}[6;99999999999999999999;1t", "\u{1B}", "x",
  ])
  func `a sequence without a usable value has no effect`(_ sequence: String) {
    #expect(TerminalAnswer(Chunk(sequence)) == nil)
  }
}
