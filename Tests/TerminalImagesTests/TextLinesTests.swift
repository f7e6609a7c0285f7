import PlainText
import TerminalImages
import TestSupport
import Testing

@Suite(.settled) struct TextLinesTests {
  @Test func `lines are broken at spaces, and longer words within`() {
    #expect("one two three".lines(of: 7) == ["one two", "three"])
    #expect("a verylongword b".lines(of: 5) == ["a", "veryl", "ongwo", "rd b"])
    #expect("四角い写真".lines(of: 5) == ["四角", "い写", "真"])
    #expect("   ".lines(of: 5) == [])
    #expect("a\u{1B}b".lines(of: 20) == [#"a\u{1B}b"#])
  }

  @Test func `text that doesn't fit ends with an ellipsis within the line`() {
    #expect("one two three four".lines(of: 7, most: 2) == ["one two", "three…"])
    #expect("abcdefghij".lines(of: 4, most: 1) == ["abc…"])
    #expect("四角い写真".lines(of: 4, most: 1) == ["四…"])
    #expect(String(repeating: "word ", count: 100_000).lines(of: 9, most: 2) == ["word word", "word wor…"].map { $0 })
  }

  @Test func `a character that is wider than a line has a line of its own`() {
    #expect("स्त्री".lines(of: 2) == ["स्त्री"])
    #expect("a स्त्रीb".lines(of: 3) == ["a", "स्त्री", "b"])
    #expect("aस्त्री".lines(of: 2, most: 1) == ["a…"])
    var grid = Grid(columns: 8, rows: 1)
    grid.placeholder("स्त्री", .dim, row: 0, column: 4, columns: 4, rows: 1)
    #expect(grid.plainText == ["     …"])
  }

  @Test(arguments: [(4, 1), (8, 3), (20, 6), (5, 4)])
  func `a placeholder stays within its box`(_ columns: Int, _ rows: Int) {
    var grid = Grid(columns: 24, rows: 8)
    grid.placeholder("the server sent a web page", .dim, row: 1, column: 2, columns: columns, rows: rows)
    for row in 0..<8 {
      for column in 0..<24 where grid[row, column].text != " " {
        #expect((1..<1 + rows).contains(row) && (2..<2 + columns).contains(column))
      }
    }
    #expect(grid.plainText.joined() != "")
  }
}
