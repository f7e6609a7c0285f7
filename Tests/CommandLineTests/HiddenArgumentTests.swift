import TestSupport
import Testing

@testable import feed

/// The secrets among the arguments, which are overwritten in process listings.
@Suite(.settled) struct HiddenArgumentTests {
  private func hidden(_ argument: [UInt8], isValue: Bool = false) -> [UInt8] {
    var bytes = argument
    for range in HiddenArguments.secrets(in: argument, isValue: isValue) {
      for index in range { bytes[index] = UInt8(ascii: "x") }
    }
    return bytes
  }

  @Test func `secrets in options and URLs are found`() {
    #expect(hidden(Array("me:é".utf8), isValue: true) == Array("xxxxx".utf8))
    #expect(hidden(Array("--token=ab".utf8)) == Array("--token=xx".utf8))
    #expect(hidden(Array("https://me:pw@e.example/a:b@c".utf8)) == Array("https://me:xx@e.example/a:b@c".utf8))
    for text in ["https://e.example/?a:b@c", "--header", "://", "load"] {
      #expect(hidden(Array(text.utf8)) == Array(text.utf8))
    }
  }

  @Test func `only an argument's own bytes are hidden, even if they aren't UTF-8`() {
    let wrong: [UInt8] = [0xE9, 0xFF, 0xE9]
    #expect(hidden(wrong, isValue: true) == Array("xxx".utf8))
    #expect(hidden(Array("--user=".utf8) + wrong) == Array("--user=xxx".utf8))
    let url = Array("https://".utf8) + wrong + Array(":".utf8) + wrong + Array("@e/".utf8)
    #expect(hidden(url) == Array("https://".utf8) + wrong + Array(":xxx@e/".utf8))
  }
}
