import TerminalImages
import TestSupport
import Testing

@Suite(.settled) struct CellTests {
  private let square = CellSize(width: 2, height: 2)

  private func cells(_ bitmap: Bitmap, _ mode: ImageMode, _ cell: CellSize) -> [Cell] {
    let drawing = Drawing(bitmap, columns: 10, rows: 10, mode: mode, cell: cell)
    guard case .cells(let cells) = drawing.content else { return [] }
    #expect(cells.count == drawing.columns * drawing.rows)
    return cells
  }

  @Test func `a character with two colors is drawn as a block on a background`() {
    let above = Bitmap.of(2, 2) { _, y in y == 0 ? .fullRed : .fullBlue }
    #expect(cells(above, .blocks(.full), square) == [Cell("▀", Ink(.rgb(.fullRed), on: .rgb(.fullBlue)))])
    let left = Bitmap.of(2, 2) { x, _ in x == 0 ? .fullRed : .fullBlue }
    #expect(cells(left, .blocks(.full), square) == [Cell("▌", Ink(.rgb(.fullRed), on: .rgb(.fullBlue)))])
    let corner = Bitmap.of(2, 2) { x, y in x + y == 0 ? .fullRed : .fullBlue }
    #expect(cells(corner, .blocks(.full), square) == [Cell("▘", Ink(.rgb(.fullRed), on: .rgb(.fullBlue)))])
    #expect(cells(.filled(2, 2, .fullRed), .blocks(.full), square) == [Cell(" ", Ink(on: .rgb(.fullRed)))])
  }

  @Test func `more than two colors in a character are reduced to the best two`() {
    let bitmap = Bitmap.of(2, 2) { x, y in y == 0 ? RGB(200, 0, UInt8(x * 20)) : RGB(0, 100, UInt8(x * 40)) }
    let expected = Cell("▀", Ink(.rgb(RGB(200, 0, 10)), on: .rgb(RGB(0, 100, 20))))
    #expect(cells(bitmap, .blocks(.full), square) == [expected])
  }

  @Test func `an edge that isn't in the middle is drawn in eighths`() {
    let cell = CellSize(width: 8, height: 8)
    for eighths in [1, 3, 6] {
      let low = Bitmap.of(8, 8) { _, y in y >= 8 - eighths ? .fullRed : .fullBlue }
      let text = ["", "▁", "", "▃", "", "", "▆"][eighths]
      #expect(cells(low, .blocks(.full), cell) == [Cell(text, Ink(.rgb(.fullRed), on: .rgb(.fullBlue)))])
      let left = Bitmap.of(8, 8) { x, _ in x < eighths ? .fullRed : .fullBlue }
      let other = ["", "▏", "", "▍", "", "", "▊"][eighths]
      #expect(cells(left, .blocks(.full), cell) == [Cell(other, Ink(.rgb(.fullRed), on: .rgb(.fullBlue)))])
    }
  }

  @Test func `transparent and missing pixels show the screen's background`() {
    #expect(
      cells(.of(2, 2) { x, y in x + y == 2 ? .fullRed : nil }, .blocks(.full), square) == [
        Cell("▗", Ink(.rgb(.fullRed)))
      ])
    #expect(cells(.of(2, 2) { _, _ in nil }, .blocks(.full), square) == [Cell()])
    #expect(cells(.filled(2, 3, .fullRed), .blocks(.full), square).last == Cell("▀", Ink(.rgb(.fullRed))))
  }

  @Test func `without colors, the number of dots shows the brightness`() {
    let cell = CellSize(width: 2, height: 4)
    #expect(cells(.filled(2, 4, .white), .dots(onLight: false), cell) == [Cell("⣿")])
    #expect(cells(.filled(2, 4, .black), .dots(onLight: false), cell) == [Cell()])
    #expect(cells(.filled(2, 4, .black), .dots(onLight: true), cell) == [Cell("⣿")])
    #expect(cells(.of(2, 4) { x, y in x == 0 && y < 2 ? .white : .black }, .dots(onLight: false), cell) == [Cell("⠃")])
    let gray = cells(.filled(40, 80, RGB(128, 128, 128)), .dots(onLight: false), cell)
    var dots = 0
    for cell in gray where cell.text != " " { dots += (cell.text.unicodeScalars.first!.value & 0xFF).nonzeroBitCount }
    #expect((30...70).contains(dots * 100 / (gray.count * 8)))
  }

  @Test(arguments: [CellSize(width: 8, height: 16), CellSize(width: 10, height: 10), CellSize(width: 6, height: 17)])
  func `a circle stays round, whatever the proportions of a character`(_ cell: CellSize) {
    let disc = Bitmap.of(400, 400) { x, y in (x - 200) * (x - 200) + (y - 200) * (y - 200) < 40_000 ? .white : nil }
    for mode in [ImageMode.blocks(.full), .dots(onLight: false)] {
      let drawing = Drawing(disc, columns: 30, rows: 10, mode: mode, cell: cell)
      let ratio = Double(drawing.columns * cell.width) / Double(drawing.rows * cell.height)
      #expect((0.9...1.1).contains(ratio))
    }
  }

  @Test func `colors are written for the terminal's color depth`() {
    let ink = Ink(.rgb(RGB(255, 0, 0)), on: .rgb(RGB(95, 135, 175)), bold: true)
    #expect(ink.sequence(.full) == "\u{1B}[0;1;38;2;255;0;0;48;2;95;135;175m")
    #expect(ink.sequence(.palette) == "\u{1B}[0;1;38;5;196;48;5;67m")
    #expect(ink.sequence(.sixteen) == "\u{1B}[0;1;31;46m")
    #expect(ink.sequence(.none) == "\u{1B}[0;1m")
    #expect(Ink(.green, reversed: true).sequence(.sixteen) == "\u{1B}[0;7;32m")
  }
}
