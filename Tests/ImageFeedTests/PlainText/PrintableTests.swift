import PlainText
import TestSupport
import Testing

@Suite(.settled) struct PrintableTests {
  @Test(arguments: ["", "plain", "Zürich – 東京 – مرحبا – नमस्ते", "👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️", "e\u{301}", "non\u{A0}breaking"])
  func `printable text stays unchanged`(text: String) {
    #expect(text.printable == text)
  }

  @Test(arguments: [
    ("\u{1B}]0;title\u{07}", "\\u{1B}]0;title\\u{7}"), ("a\nb\r\tc", "a\\u{A}b\\u{D}\\u{9}c"),
    ("\u{9B}2J", "\\u{9B}2J"),
    ("NUL\0", "NUL\\u{0}"), ("\u{7F}", "\\u{7F}"), ("\u{202E}gpj.exe", "\\u{202E}gpj.exe"), ("\u{2028}", "\\u{2028}"),
    ("\u{FEFF}x", "\\u{FEFF}x"), ("\r\n", "\\u{D}\\u{A}"), ("\u{E000}", "\\u{E000}"),
  ])
  func `control characters are escaped`(text: String, shown: String) {
    #expect(text.printable == shown)
  }

  @Test func `a long text is truncated before it is escaped`() {
    #expect("abcdef".printable(limit: 6) == "abcdef")
    #expect("abcdefg".printable(limit: 6) == "abcdef…")
    #expect(String(repeating: "\0", count: 1_000_000).printable(limit: 2) == "\\u{0}\\u{0}…")
  }
}
