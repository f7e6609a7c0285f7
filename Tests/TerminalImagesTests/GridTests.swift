import TerminalImages
import TestSupport
import Testing

@Suite(.settled) struct GridTests {
  @Test func `control characters in text don't reach the terminal`() {
    var grid = Grid(columns: 40, rows: 1)
    grid.write("a\u{1B}[2Jb\u{7}c\u{202E}d\ne", row: 0, column: 0)
    #expect(grid.plainText == [#"a\u{1B}[2Jb\u{7}c\u{202E}d\u{A}e"#])
    #expect(!text(grid.lines(.full)).contains("\u{1B}"))
  }

  @Test func `text is truncated at its width, even within wide characters`() {
    var grid = Grid(columns: 10, rows: 7)
    #expect(grid.write("ten places", row: 0, column: 0) == 10)
    #expect(grid.write("eleven long", row: 1, column: 0) == 10)
    #expect(grid.write("四角四角四角", row: 2, column: 1) == 9)
    #expect(grid.write("cut here", row: 3, column: 2, room: 4) == 4)
    #expect(grid.write("x", row: 7, column: 0) == 0)
    #expect(grid.write("e\u{301}🇩🇪!", row: 4, column: 0) == 4)
    #expect(grid.write("क्या है!", row: 5, column: 0) == 6)
    #expect(grid.write("四四四a क्या", row: 6, column: 0) == 9)
    #expect(
      grid.plainText
        == ["ten places", "eleven lo…", " 四角四角…", "  cut…", "e\u{301}🇩🇪!", "क्या है!", "四四四a …"])
  }

  @Test func `text over a part of a wide character leaves spaces in the rest of it`() {
    for column in 1...3 {
      var grid = Grid(columns: 6, rows: 1)
      grid.write("aक्याb", row: 0, column: 0)
      grid.write("x", row: 0, column: column)
      #expect(grid.plainText == [["ax  b", "a x b", "a  xb"][column - 1]])
    }
    var grid = Grid(columns: 6, rows: 1)
    grid.write("क्याक्या", row: 0, column: 0)
    grid.write("四", row: 0, column: 2)
    #expect(grid.plainText == ["  四"])
  }

  @Test func `lines end without trailing spaces, and a style ends with its text`() {
    var grid = Grid(columns: 12, rows: 2)
    grid.write("one", .bold, row: 0, column: 0)
    grid.write("two", row: 0, column: 5)
    #expect(text(grid.lines(.full)) == "\u{1B}[0;1mone  \u{1B}[0mtwo\n\n")
  }

  @Test func `an image is drawn over lines that reserve its place`() {
    var grid = Grid(columns: 8, rows: 3)
    let drawing = Drawing(
      .filled(4, 4, .fullRed), columns: 4, rows: 2, mode: .sixel(colors: 16), cell: .init(width: 2, height: 2))
    grid.place(drawing, row: 0, column: 1)
    grid.write("ab", row: 1, column: 5)
    #expect(grid.plainText == [" ##", " ##  ab", ""])
    let lines = text(grid.lines(.full))
    #expect(lines.hasPrefix("\n     ab\n\n\u{1B}7\u{1B}[3A\r\u{1B}[1C\u{1B}P"))
    #expect(lines.hasSuffix("\u{1B}\\\u{1B}8"))
  }

  @Test func `an image of characters is cropped at the edge, and other images are left out`() {
    let cell = CellSize(width: 2, height: 2)
    for mode in [ImageMode.blocks(.full), .kitty] {
      var grid = Grid(columns: 4, rows: 2)
      grid.place(Drawing(.filled(8, 8, .fullRed), columns: 4, rows: 4, mode: mode, cell: cell), row: 1, column: 2)
      #expect(grid.cells.filter { $0.ink.background == .rgb(.fullRed) }.count == (mode == .kitty ? 0 : 2))
      #expect(grid.images.isEmpty)
    }
  }
}

@Suite(.settled) struct ScreenWriterTests {
  /// A screen of words, wide characters, colors and images, which differs for each seed.
  private func grid(_ seed: Int, columns: Int, rows: Int, _ drawings: [Drawing]) -> Grid {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    func random(_ limit: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(limit))
    }
    var grid = Grid(columns: columns, rows: rows)
    let words = ["feed", "四角", "a🙂b", "—", "e\u{301}t\u{E9}", "a longer line of words", "क्या है", "स्त्री"]
    let inks = [Ink.plain, .bold, Ink(.red), Ink(.rgb(.fullBlue), on: .rgb(.fullRed)), Ink(reversed: true)]
    for _ in 0..<6 {
      grid.write(words[random(words.count)], inks[random(inks.count)], row: random(rows), column: random(columns))
    }
    var column = random(3)
    for _ in 0..<random(3) {
      let drawing = drawings[random(drawings.count)]
      grid.place(drawing, row: random(2), column: column)
      column += drawing.columns + random(3)
    }
    return grid
  }

  @Test(arguments: [ImageMode.kitty, .sixel(colors: 16), .blocks(.full)])
  func `after each update the screen shows the grid, whatever it showed before`(_ mode: ImageMode) {
    let cell = CellSize(width: 2, height: 2)
    let colors = [RGB.fullRed, .fullBlue, .white]
    let drawings = colors.enumerated().map { index, color in
      Drawing(.filled(6 + index * 2, 4, color), columns: 5, rows: 2, mode: mode, cell: cell)
    }
    for round in 0..<20 {
      var screen = ScriptedScreen(columns: 24, rows: 6)
      // Use so little memory that images are sometimes dropped.
      var writer = ScreenWriter(depth: .full, memory: 60)
      for step in 0..<12 {
        let grid = grid(round * 100 + step, columns: 24, rows: 6, drawings)
        if step % 4 == 3 { writer.reset() }
        screen.take(writer.bytes(showing: grid))
        #expect(writer.bytes(showing: grid).isEmpty)
        #expect(screen.complaints == [])
        let looks = grid.cells.map { $0.ink == .plain ? "" : String($0.ink.sequence(.full).dropFirst(2).dropLast()) }
        let differing = grid.cells.indices.filter { place in
          screen.cells[place] != grid.cells[place].text || screen.looks[place] != looks[place]
        }
        #expect(differing == [], "round \(round), step \(step)")
        let placed = Set(grid.images.map { "\($0.row) \($0.column)" })
        #expect(Set(screen.images.map { "\($0.row) \($0.column)" }) == placed)
      }
    }
  }

  @Test func `an update writes only the changed cells`() {
    var writer = ScreenWriter(depth: .full)
    var grid = Grid(columns: 20, rows: 3)
    grid.write("first", row: 0, column: 0)
    _ = writer.bytes(showing: grid)
    grid.write("x", row: 2, column: 4)
    #expect(text(writer.bytes(showing: grid)) == "\u{1B}[?2026h\u{1B}[3;5H\u{1B}[0mx\u{1B}[0m\u{1B}[?2026l")
  }

  @Test func `next to a character that the terminal draws narrower, nothing of the former text stays`() {
    var (screen, writer) = (ScriptedScreen(columns: 8, rows: 1), ScreenWriter(depth: .full))
    screen.narrow = Set("क्या")
    for words in ["abcdefgh", "क्या है"] {
      var grid = Grid(columns: 8, rows: 1)
      grid.write(words, row: 0, column: 0)
      screen.take(writer.bytes(showing: grid))
    }
    #expect(screen.complaints == [])
    #expect(screen.cells == ["क्या", " ", " ", " ", "है", " ", " ", " "])
  }

  @Test func `a resized screen, or one that was reset, is redrawn`() {
    var writer = ScreenWriter(depth: .full)
    var grid = Grid(columns: 20, rows: 3)
    grid.write("first", row: 0, column: 0)
    _ = writer.bytes(showing: grid)
    writer.reset()
    #expect(text(writer.bytes(showing: grid)).contains("\u{1B}[2J\u{1B}[1;1H\u{1B}[0mfirst"))
    #expect(text(writer.bytes(showing: Grid(columns: 10, rows: 3))).contains("\u{1B}[2J"))
  }

  @Test func `an image is sent to the terminal once, and kept while there is memory`() {
    let cell = CellSize(width: 2, height: 2)
    let (red, blue) = (
      Drawing(.filled(8, 4, .fullRed), columns: 4, rows: 2, mode: .kitty, cell: cell),
      Drawing(.filled(8, 4, .fullBlue), columns: 4, rows: 2, mode: .kitty, cell: cell)
    )
    func grid(_ drawing: Drawing?) -> Grid {
      var grid = Grid(columns: 20, rows: 4)
      if let drawing { grid.place(drawing, row: 1, column: 2) }
      return grid
    }
    var writer = ScreenWriter(depth: .full, memory: 1000)
    #expect(text(writer.bytes(showing: grid(red))).contains("a=t,i=32"))
    #expect(text(writer.bytes(showing: grid(nil))).contains("a=d,d=i,i=32,p=23"))
    let again = text(writer.bytes(showing: grid(red)))
    #expect(again.contains("a=p,i=32,p=23,c=4,r=2") && !again.contains("a=t"))
    var small = ScreenWriter(depth: .full, memory: 1)
    _ = small.bytes(showing: grid(red))
    #expect(text(small.bytes(showing: grid(blue))).contains("a=d,d=I,i=32"))
  }

  @Test func `a cleared screen gets kitty's images again, even those that were hidden`() {
    let cell = CellSize(width: 2, height: 2)
    let red = Drawing(.filled(8, 4, .fullRed), columns: 4, rows: 2, mode: .kitty, cell: cell)
    for (isHidden, rows) in [(false, 4), (true, 4), (false, 5)] {
      var (screen, writer) = (ScriptedScreen(columns: 20, rows: 5), ScreenWriter(depth: .full))
      var grid = Grid(columns: 20, rows: 4)
      let empty = grid
      grid.place(red, row: 1, column: 2)
      screen.take(writer.bytes(showing: grid))
      if isHidden { screen.take(writer.bytes(showing: empty)) }
      // A screen of another size is cleared, too.
      if rows == 4 { writer.reset() }
      var next = Grid(columns: 20, rows: rows)
      next.place(red, row: 1, column: 2)
      screen.take(writer.bytes(showing: next))
      #expect(screen.complaints == [])
      #expect(screen.images.map { [$0.row, $0.column] } == [[1, 2]])
    }
  }
}
