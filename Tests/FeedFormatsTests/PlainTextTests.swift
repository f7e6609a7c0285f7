import FeedFormats
import TestSupport
import Testing

@Suite(.settled) struct PlainTextTests {
  static let texts: [(String, String)] = [
    ("<p>One</p><p>Two<br/>Three</p>", "One Two Three"),
    ("<b>bo</b>ld <i>x</i>", "bold x"),
    ("a &amp; b &lt; c &eacute; &#233; &#xe9; &nbsp; d", "a & b < c é é é d"),
    ("AT&T &copy; &unknown; &", "AT&T © &unknown; &"),
    ("1 < 2 > 0 <3", "1 < 2 > 0 <3"),
    ("<script>alert('<p>')</script>x<style>p{}</style><!-- <b> -->y", "x y"),
    ("&lt;b&gt;twice&lt;/b&gt;", "twice"),
    ("&amp;lt;script&amp;gt;three times&amp;lt;/script&amp;gt;x", "x"),
    ("&amp;amp;amp;amp;lt;b>", "& lt;b>"),
    ("<img src=x onerror=alert(1)>a<img src=\"x", "a< img src=\"x"),
    ("<<b>b>x", "x"),
    ("a\u{1B}[31mred\u{7}\u{9B}x\u{0}y &#27;[0m &#x9B;", "a[31mred›xy \u{FFFD}[0m ›"),
    ("tab\tline\nend\r\n", "tab line end"), ("a\u{2028}b\u{2029} c&#x202F;\u{2009}d\u{3000}e\u{1680}f", "a b c d e f"),
    ("\u{3000}日本\u{3001}語\u{3000}", "日本\u{3001}語"),
    ("a\u{200B}b\u{2027}c\u{202A}d\u{2060}", "a\u{200B}b\u{2027}c\u{202A}d\u{2060}"),
    ("<a href='>'>x</a> <p", "x < p"),
    ("<?php echo 1 ?>x<!DOCTYPE html>y<![CDATA[z]]>", "xy"),
    ("</p", "< /p"), ("don\u{92}t \u{8D} &#146; &#x85;", "don’t ’ …"),
  ]

  @Test(arguments: texts) func `HTML is converted to one line of plain text`(html: String, expected: String) {
    let text = plainText(ofHTML: html)
    #expect(isHarmless(text), "\(text)")
    #expect(text == expected)
  }

  /// Reading each tag inside a value again would take minutes for these.
  @Test(arguments: ["x=\"<a \"", "x='<img '", "<a x=\"<b y='"])
  func `tags nested in values are read in linear time`(part: String) throws {
    let html = "<a " + String(repeating: part, count: 100_000)
    #expect(!plainText(ofHTML: html).contains("<a"))
    let item = rss("<item><description><![CDATA[\(html)]]></description></item>")
    #expect(try FeedParser.document(of: Array(item.utf8)).items.count == 1)
  }

  @Test func `an item's text is short, even if its characters have thousands of marks`() throws {
    let text = "a" + String(repeating: "\u{301}", count: 5_000)
    let item = try read(rss("<item><description>\(text)</description></item>")).items[0]
    #expect(item.plainText?.unicodeScalars.count == FeedItem.longestText)
    #expect(item.plainDescription?.unicodeScalars.count == FeedItem.longestCaption)
  }

  @Test func `no combination of markup fragments leaves a tag in plain text`() {
    let pieces = [
      "<", ">", "&lt;", "&gt;", "&amp;", "amp;", "lt;", "b", "/", "!", "--", "script", " ", "\"", "&#60;", "\u{1B}",
    ]
    var state: UInt64 = 7
    for _ in 0..<4_000 {
      var html = ""
      for _ in 0..<12 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        html += pieces[Int(state >> 33) % pieces.count]
      }
      let text = plainText(ofHTML: html)
      #expect(isHarmless(text), "\(html) became \(text)")
    }
  }

  /// True if the text has no tag, no XML entity and no control character.
  private func isHarmless(_ text: String) -> Bool {
    !text.contains(/<[a-zA-Z\/!?]/) && !text.contains(/&(lt|gt|amp|quot|#60);/)
      && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
  }
}
