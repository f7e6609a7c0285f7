import TestSupport
import Testing

@testable import FeedRedis

@Suite(.settled) struct RedisRefusalTests {
  /// A refusal is printed on a terminal, and its text is untrusted: the server may repeat an argument.
  @Test(arguments: ["\u{202E}", "\u{2066}", "\u{200F}", "\u{9B}", "\u{1B}", "\n", "\u{2028}"])
  func `a refusal's text never contains characters that control the terminal`(_ character: Character) {
    let refusal = RedisRefusal("ERR unknown command 'a\(character)b'").shown(without: nil)
    #expect(refusal.description == "ERR unknown command 'a b'")
  }

  @Test func `a refusal is shown without the password, and truncated if it is long`() {
    let refusal = RedisRefusal("WRONGPASS invalid 'hunter2' " + String(repeating: "x", count: 400))
    let shown = refusal.shown(without: "hunter2")
    #expect(shown.message.hasPrefix("invalid '…' xxx"))
    #expect(shown.message.count == 301)
    #expect(shown.code == "WRONGPASS")
  }
}
