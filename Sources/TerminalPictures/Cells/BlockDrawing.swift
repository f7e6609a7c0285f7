/// One character of a screen.
package struct Cell: Hashable, Sendable {
  /// Empty in what a wide character before it covers.
  package var text: String
  package var ink: Ink
  /// The number of the picture that lies over it, of those that are no text; 0 for none.
  package var picture = 0

  package init(_ text: String = " ", _ ink: Ink = .plain) {
    self.text = text
    self.ink = ink
  }
}

/// A picture of characters: each a quarter, a half or all of a cell in one colour, and the rest in another.
enum BlockDrawing {
  /// By which quarters are filled: 1 left above, 2 right above, 4 left below, 8 right below.
  static let blocks = [" ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█"]

  /// - Parameter picture: two pixels across and two down for each character; those that are missing are empty.
  static func cells(of picture: Bitmap, columns: Int, rows: Int) -> [Cell] {
    var cells: [Cell] = []
    cells.reserveCapacity(columns * rows)
    for row in 0..<rows {
      for column in 0..<columns {
        let quarters = (0..<4).map { quarter -> RGB? in
          let (x, y) = (column * 2 + quarter % 2, row * 2 + quarter / 2)
          return x < picture.width && y < picture.height && picture.isSolid(x, y) ? picture.colour(x, y) : nil
        }
        cells.append(cell(quarters))
      }
    }
    return cells
  }

  static func cell(_ quarters: [RGB?]) -> Cell {
    let solid = quarters.indices.filter { quarters[$0] != nil }
    guard !solid.isEmpty else { return Cell() }
    guard solid.count == 4 else {
      let colour = mean(solid.map { quarters[$0]! })
      return Cell(blocks[solid.reduce(0) { $0 | 1 << $1 }], Ink(.rgb(colour)))
    }
    let colours = quarters.map { $0! }
    var (best, least) = (0, Int.max)
    // The upper half first, so that it wins where others are as good; the last quarter is always in the background.
    for mask in [0, 3, 5, 1, 2, 4, 6, 7] {
      let error = error(of: colours, mask)
      if error < least { (best, least) = (mask, error) }
    }
    let front = (0..<4).filter { best & 1 << $0 != 0 }.map { colours[$0] }
    let back = (0..<4).filter { best & 1 << $0 == 0 }.map { colours[$0] }
    return Cell(blocks[best], Ink(front.isEmpty ? .standard : .rgb(mean(front)), on: .rgb(mean(back))))
  }

  /// How wrong the quarters are, squared, when each group has its mean.
  private static func error(of colours: [RGB], _ mask: Int) -> Int {
    var total = 0
    for isFront in [true, false] {
      let group = (0..<4).filter { (mask & 1 << $0 != 0) == isFront }.map { colours[$0] }
      guard !group.isEmpty else { continue }
      let middle = mean(group)
      total += group.reduce(0) { $0 + $1.distance(to: middle) }
    }
    return total
  }

  private static func mean(_ colours: [RGB]) -> RGB {
    let sum = colours.reduce(into: SIMD3<Int>.zero) { $0 &+= SIMD3(Int($1.red), Int($1.green), Int($1.blue)) }
    let half = SIMD3(repeating: colours.count / 2)
    let middle = (sum &+ half) / colours.count
    return RGB(UInt8(middle.x), UInt8(middle.y), UInt8(middle.z))
  }
}

/// A picture without colours: eight dots a character, more of them where it is brighter.
enum DotDrawing {
  /// - Parameters:
  ///   - picture: two pixels across and four down for each character.
  ///   - isLight: true on a light screen, where a dot darkens.
  static func cells(of picture: Bitmap, columns: Int, rows: Int, onLight isLight: Bool) -> [Cell] {
    var palette = Palette([RGB(0, 0, 0), RGB(255, 255, 255)])
    var grey: [UInt8] = []
    grey.reserveCapacity(picture.rgba.count)
    for y in 0..<picture.height {
      for x in 0..<picture.width {
        let level = UInt8(picture.colour(x, y).brightness)
        grey += [level, level, level, picture.rgba[(y * picture.width + x) * 4 + 3]]
      }
    }
    let levels = palette.dithered(Bitmap(width: picture.width, height: picture.height, rgba: grey))
    // The dots of a character from above, left and right (Unicode 17, chapter 21.1).
    let dots: [UInt32] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]
    return (0..<rows * columns).map { place in
      var pattern: UInt32 = 0
      for (index, dot) in dots.enumerated() {
        let (x, y) = (place % columns * 2 + index % 2, place / columns * 4 + index / 2)
        guard x < picture.width, y < picture.height else { continue }
        if levels[y * picture.width + x] == (isLight ? 0 : 1) { pattern |= dot }
      }
      return pattern == 0 ? Cell() : Cell(String(Unicode.Scalar(0x2800 + pattern)!))
    }
  }
}
