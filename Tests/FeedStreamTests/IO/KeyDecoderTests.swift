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

  @Test func `characters, letters with Ctrl and named keys are told apart`() {
    #expect(
      keys(["aé🙂\r\t\u{7F}\u{3}"]) == [
        .character("a"), .character("é"), .character("🙂"), .enter, .tab, .backspace, .control("c"),
      ])
    #expect(keys(["\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}[1;5D"]) == [.up, .down, .right, .left])
    #expect(keys(["\u{1B}[H\u{1B}[4~\u{1B}[5~\u{1B}[6~\u{1B}[3~"]) == [.home, .end, .pageUp, .pageDown, .delete])
    #expect(keys(["\u{1B}OP\u{1B}[15~\u{1B}[24~"]) == [.function(1), .function(5), .function(12)])
  }

  @Test func `an escape alone is the key, and a sequence that has no name is delivered as it is`() {
    #expect(keys(["\u{1B}", "a"]) == [.escape, .character("a")])
    #expect(keys(["\u{1B}[99~x"]) == [.other("\u{1B}[99~"), .character("x")])
  }

  @Test func `a character may be cut, and what is no character is delivered as it is`() {
    let bytes = Array("é".utf8)
    #expect(keys([Chunk(bytes[..<1]), Chunk(bytes[1...])]) == [.character("é")])
    #expect(keys([[0xFF, 0x61]]) == [.other([0xFF]), .character("a")])
    #expect(keys([[0xC3]]) == [.other([0xC3])])
  }
}
