import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct KeyDecoderTests {
  private func keys(_ chunks: [Chunk]) -> [TerminalKey] {
    var keys: [TerminalKey] = []
    let all = chunks.publisher.framed(by: KeyDecoder())
      .sink { _ in
      } receiveValue: {
        keys.append($0)
      }
    all.cancel()
    return keys
  }

  @Test func `characters, Ctrl combinations and named keys are distinguished`() {
    #expect(
      keys(["aé🙂\r\t\u{7F}\u{3}"]) == [
        .character("a"), .character("é"), .character("🙂"), .enter, .tab, .backspace, .control("c"),
      ])
    #expect(keys(["\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}[1;5D"]) == [.up, .down, .right, .left])
    #expect(keys(["\u{1B}[H\u{1B}[4~\u{1B}[5~\u{1B}[6~\u{1B}[3~"]) == [.home, .end, .pageUp, .pageDown, .delete])
    #expect(keys(["\u{1B}OP\u{1B}[15~\u{1B}[24~"]) == [.function(1), .function(5), .function(12)])
  }

  @Test func `a lone escape is the Escape key, and an unknown sequence is delivered unchanged`() {
    #expect(keys(["\u{1B}", "a"]) == [.escape, .character("a")])
    #expect(keys(["\u{1B}[99~x"]) == [.other("\u{1B}[99~"), .character("x")])
  }

  @Test func `a split character is joined, and invalid bytes are delivered unchanged`() {
    let bytes = Array("é".utf8)
    #expect(keys([Chunk(bytes[..<1]), Chunk(bytes[1...])]) == [.character("é")])
    #expect(keys([[0xFF, 0x61]]) == [.other([0xFF]), .character("a")])
    #expect(keys([[0xC3]]) == [.other([0xC3])])
    // Keys after an invalid byte don't wait for the bytes that it announces.
    var decoder = KeyDecoder()
    for (bytes, expected) in [([0xE9, 0x03], TerminalKey.control("c")), ([0xFF, 0x61], .character("a"))]
      as [([UInt8], TerminalKey)]
    {
      decoder.feed(Chunk(bytes))
      #expect(decoder.next() == .other(Chunk(bytes.prefix(1))))
      #expect(decoder.next() == expected)
    }
  }

  @Test func `a terminal's reply is delivered as one value, not as keys`() {
    let answers: [Chunk] = [
      "\u{1B}[?62;4c", "\u{1B}[?1;0;256S", "\u{1B}[6;16;8t", "\u{1B}_Gi=31;OK\u{1B}\\", "\u{1B}]11;rgb:0/0/0\u{7}",
      "\u{1B}P1$r0m\u{1B}\\",
    ]
    #expect(keys([Chunk(joining: answers)]) == answers.map(TerminalKey.other))
    // Split anywhere, except after an escape that begins a sequence.
    for answer in answers {
      for cut in 3..<answer.count {
        #expect(keys([answer.prefix(cut), answer.dropFirst(cut), "x"]) == [.other(answer), .character("x")])
      }
    }
  }

  @Test func `mouse events have their button or wheel and their position, in both formats`() {
    #expect(
      keys(["\u{1B}[<0;12;3M\u{1B}[<0;12;3m\u{1B}[<64;1;1M\u{1B}[<65;300;200Mx"]) == [
        .mouse(TerminalMouse(.press(0), column: 11, row: 2)), .mouse(TerminalMouse(.release(0), column: 11, row: 2)),
        .mouse(TerminalMouse(.wheelUp, column: 0, row: 0)), .mouse(TerminalMouse(.wheelDown, column: 299, row: 199)),
        .character("x"),
      ])
    // Ctrl with the right button: Ctrl has no effect.
    #expect(keys(["\u{1B}[<18;2;2M"]) == [.mouse(TerminalMouse(.press(2), column: 1, row: 1))])
    // A column whose code is the letter q.
    #expect(
      keys(["\u{1B}[M q#", "\u{1B}[M##", "#a"]) == [
        .mouse(TerminalMouse(.press(0), column: 80, row: 2)), .mouse(TerminalMouse(.release(3), column: 2, row: 2)),
        .character("a"),
      ])
    #expect(keys(["\u{1B}[M`!!"]) == [.mouse(TerminalMouse(.wheelUp, column: 0, row: 0))])
    // Split anywhere, except after an escape that begins a sequence.
    for cut in 3..<9 {
      let report: Chunk = "\u{1B}[<0;12;3M"
      #expect(
        keys([report.prefix(cut), report.dropFirst(cut)]) == [.mouse(TerminalMouse(.press(0), column: 11, row: 2))])
    }
  }

  @Test func `an invalid mouse report is delivered unchanged, not as keys`() {
    for wrong: Chunk in [
      "\u{1B}[<0;12M", "\u{1B}[<0;0;3M", "\u{1B}[<;;M", "\u{1B}[<99999999999999999999;1;1M", "\u{1B}[<32;4;4M",
    ] {
      #expect(keys([Chunk(joining: [wrong, "x"])]) == [.other(wrong), .character("x")])
    }
    #expect(keys(["\u{1B}[Mab"]) == [.other("\u{1B}[Mab")])
  }

  @Test func `an unterminated string sequence ends at the limit, and Alt with a letter isn't one`() {
    #expect(keys(["\u{1B}P", "a"]) == [.escape, .character("P"), .character("a")])
    #expect(keys(["\u{1B}]x"]) == [.escape, .character("]"), .character("x")])
    #expect(keys(["\u{1B}_Gi=1", "\u{1B}[A"]) == [.other("\u{1B}_Gi=1"), .up])
    #expect(keys(["\u{1B}_Gi=1"]) == [.other("\u{1B}_Gi=1")])
    let endless = Chunk(Array(repeating: UInt8(ascii: "a"), count: 5000))
    #expect(keys(["\u{1B}]11;", endless, "x"]) == [.other(Chunk(joining: ["\u{1B}]11;", endless])), .character("x")])
  }
}
