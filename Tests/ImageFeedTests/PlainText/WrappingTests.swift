import PlainText
import TestSupport
import Testing

@Suite(.settled) struct WrappingTests {
  @Test(arguments: [
    ("abc", 3), ("", 0), ("Zürich", 6), ("e\u{301}", 1), ("日本語", 6), ("ｱ", 1), ("ＡＢ", 4), ("한국", 4), ("👍", 2),
    ("👍🏽", 2), ("👩‍👩‍👧", 2), ("🇨🇭", 2), ("❤️", 2), ("❤", 1), ("\u{1B}[31mred\u{1B}[0m", 3), ("a\u{200D}", 1), ("1️⃣", 2),
    ("—", 1),
    ("हिन्दी", 5), ("\u{7}", 0), ("\u{1B}[1m\u{301}a\u{1B}[0m", 1),
  ])
  func `columns counts characters as terminals draw them`(text: String, columns: Int) {
    #expect(text.columns == columns)
  }

  @Test func `lines are wrapped at spaces, and indented below their entry's text`() {
    #expect(
      " 9. The quick brown fox jumps over\n    the lazy dog".wrapped(to: 20)
        == " 9. The quick brown\n    fox jumps over\n    the lazy dog")
    #expect("  server: could not connect to it".wrapped(to: 24) == "  server: could not\n          connect to it")
    #expect("one two three four five".wrapped(to: 20) == "one two three four\nfive")
  }

  @Test func `wide characters can be wrapped without spaces`() {
    #expect("1. 日本語の写真がここにあります".wrapped(to: 20) == "1. 日本語の写真がこ\n   こにあります")
    #expect("1. abc 日本語の写真がここにあります".wrapped(to: 20) == "1. abc 日本語の写真\n   がここにあります")
  }

  @Test func `a long word is broken, and a URL isn't`() {
    #expect("1. abcdefghijklmnopqrstuvwxyz".wrapped(to: 20) == "1. abcdefghijklmnopq\n   rstuvwxyz")
    let address = "   https://example.com/abcdefghijklmnopqrstuvwxyz"
    #expect(address.wrapped(to: 20) == address)
    #expect("see https://example.com/abcdefghij now".wrapped(to: 20) == "see\nhttps://example.com/abcdefghij\nnow")
  }

  @Test func `color codes don't count as columns`() {
    let text = "1. \u{1B}[1mThe quick brown\u{1B}[0m fox"
    #expect(text.wrapped(to: 22) == text)
    #expect(text.wrapped(to: 20) == "1. \u{1B}[1mThe quick brown\u{1B}[0m\n   fox")
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      ("1. \u{1B}[1m", "\u{301}"), ("1. \u{1B}[1m", "\u{FE0F}"), ("\u{1B}]0;", ""), ("", "\u{1B}"),
      ("1. ", "\u{1B}[2K"),
    ])
  func `text after any escape sequence, even a mark, is wrapped without loss`(start: String, mark: String) {
    for word in [String(repeating: "日", count: 30), String(repeating: "a", count: 70)] {
      let text = start + mark + word + "\u{1B}[0m"
      let wrapped = text.wrapped(to: 20)
      for line in wrapped.split(separator: "\n") { #expect(line.columns <= 20) }
      let bare = { (text: String) in text.unicodeScalars.filter { $0 != "\n" && $0 != " " } }
      #expect(bare(wrapped).elementsEqual(bare(text)))
    }
  }

  @Test(arguments: Array(20...80) + [120, 500])
  func `no line is wider than requested, and no character is lost`(columns: Int) {
    let words = "Zürich, 東京とe\u{301}tudes 👩‍👩‍👧 👍🏽 supercalifragilisticexpialidociousandmore 一二三四五六七八九十 a b"
    let text = "12. \(words) \(words)\n    \(words)\n  try:    \(words)"
    let wrapped = text.wrapped(to: columns)
    for line in wrapped.split(separator: "\n") { #expect(line.columns <= columns) }
    let bare = { (text: String) in text.filter { !$0.isWhitespace } }
    #expect(bare(wrapped) == bare(text))
  }
}
