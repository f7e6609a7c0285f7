import TerminalImages
import TestSupport
import Testing

@Suite(.settled) struct PixelTests {
  @Test(arguments: [
    // A wide image in a square box, a high one, one that is smaller than the box, and an extreme one.
    (800, 400, 20, 10, 8, 16, [20, 5, 160, 80]),
    (400, 800, 20, 10, 8, 16, [10, 10, 80, 160]),
    (30, 20, 20, 10, 8, 16, [4, 2, 30, 20]),
    (10_000, 10, 20, 10, 8, 16, [20, 1, 160, 1]),
    // The same with characters of other proportions.
    (800, 400, 20, 10, 10, 10, [20, 10, 200, 100]),
    (800, 400, 20, 10, 7, 17, [20, 5, 140, 70]),
  ])
  func `an image keeps its proportions, whatever the size of a character`(_ row: (Int, Int, Int, Int, Int, Int, [Int]))
  {
    let fit = ImageFit(
      width: row.0, height: row.1, columns: row.2, rows: row.3, cell: CellSize(width: row.4, height: row.5))
    #expect([fit.columns, fit.rows, fit.width, fit.height] == row.6)
  }

  @Test func `an image can be enlarged to fill a box, and keeps its proportions`() {
    let cell = CellSize(width: 8, height: 16)
    let fit = ImageFit(width: 30, height: 20, columns: 20, rows: 10, cell: cell, isEnlarged: true)
    #expect([fit.columns, fit.rows, fit.width, fit.height] == [20, 7, 160, 107])
  }

  @Test func `scaling down averages the pixels, and transparent ones don't affect the color`() {
    let halves = Bitmap.of(4, 4) { x, _ in x < 2 ? .black : .white }
    #expect(halves.scaled(toWidth: 2, height: 1) == Bitmap.of(2, 1) { x, _ in x == 0 ? .black : .white })
    #expect(halves.scaled(toWidth: 1, height: 1).color(0, 0) == RGB(128, 128, 128))
    let third = Bitmap.of(3, 1) { x, _ in x == 0 ? .black : .white }.scaled(toWidth: 2, height: 1)
    #expect(third.color(0, 0) == RGB(85, 85, 85))
    let seen = Bitmap.of(2, 1) { x, _ in x == 0 ? .fullRed : nil }.scaled(toWidth: 1, height: 1)
    #expect(seen.rgba == [255, 0, 0, 128])
  }

  @Test func `24-bit colors become the nearest of the fixed 240 colors`() {
    #expect(RGB.black.paletteIndex == 16)
    #expect(RGB.white.paletteIndex == 231)
    #expect(RGB.fullRed.paletteIndex == 196)
    #expect(RGB(95, 135, 175).paletteIndex == 67)
    #expect(RGB(128, 128, 128).paletteIndex == 244)
    #expect(RGB(8, 8, 8).paletteIndex == 232)
  }
}
