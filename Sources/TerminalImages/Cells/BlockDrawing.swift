/// One character of a screen.
package struct Cell: Hashable, Sendable {
  /// The character; empty in cells that a preceding wide character covers.
  package var text: String
  package var ink: Ink
  /// The number of the image that is drawn over the character, if the image isn't made of text; 0 for none.
  package var image = 0

  package init(_ text: String = " ", _ ink: Ink = .plain) {
    self.text = text
    self.ink = ink
  }
}

/// An image made of characters: each is a block in one color on a background of another color, chosen so that the error
/// is smallest.
enum BlockDrawing {
  /// The number of pixels of the image per character, across and down.
  static let parts = 8

  /// The blocks, indexed by the bits of the filled quarters: 1 top left, 2 top right, 4 bottom left, 8 bottom right.
  static let quarters = [" ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█"]
  /// The blocks by the number of filled eighths, from below and from the left.
  static let low = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"]
  static let left = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// - Parameter bitmap: eight pixels across and eight down for each character; missing pixels are empty.
  static func cells(of bitmap: Bitmap, columns: Int, rows: Int) -> [Cell] {
    (0..<rows * columns).map { place in
      var sums = BlockSums()
      let (x, y) = (place % columns * parts, place / columns * parts)
      for row in y..<min(y + parts, bitmap.height) {
        for column in x..<min(x + parts, bitmap.width) where bitmap.isSolid(column, row) {
          sums.add(bitmap.color(column, row), column - x, row - y)
        }
      }
      // In a box of one character, show even a single pixel.
      return cell(sums, least: rows * columns == 1 ? 1 : parts * parts / 8)
    }
  }

  /// - Parameter least: the minimum number of visible pixels, out of 16, with which a quarter of a partly transparent
  ///   character is shown.
  private static func cell(_ sums: BlockSums, least: Int) -> Cell {
    guard sums.all.count == parts * parts else { return partialCell(sums, least) }
    // Try halves first, so that they win ties. The last quarter is always in the background.
    var (best, front, score) = (" ", BlockSum(), BlockSum().score + sums.all.score)
    func consider(_ text: String, _ sum: BlockSum) {
      let other = sum.score + (sums.all - sum).score
      if other > score { (best, front, score) = (text, sum, other) }
    }
    for mask in [3, 5, 1, 2, 4, 6, 7] { consider(quarters[mask], sums.quarters(mask)) }
    var (fromBelow, fromLeft) = (BlockSum(), BlockSum())
    for count in 1..<parts {
      fromBelow += sums.rows[parts - count]
      fromLeft += sums.columns[count - 1]
      consider(low[count], fromBelow)
      consider(left[count], fromLeft)
    }
    let back = sums.all - front
    return Cell(best, Ink(front.count == 0 ? .standard : .rgb(front.mean), on: .rgb(back.mean)))
  }

  /// A character that is partly transparent: the terminal's background shows through, in whole quarters.
  private static func partialCell(_ sums: BlockSums, _ least: Int) -> Cell {
    let mask = (0..<4).reduce(0) { sums.quarters[$1].count >= least ? $0 | 1 << $1 : $0 }
    return mask == 0 ? Cell() : Cell(quarters[mask], Ink(.rgb(sums.quarters(mask).mean)))
  }
}

/// A sum of colors.
private struct BlockSum {
  var sum = SIMD3<Int>.zero
  var count = 0

  var mean: RGB {
    let middle = (sum &+ SIMD3(repeating: count / 2)) / max(count, 1)
    return RGB(UInt8(middle.x), UInt8(middle.y), UInt8(middle.z))
  }

  /// A measure of the colors' similarity: the greater it is, the smaller the error of their mean.
  var score: Int { count == 0 ? 0 : (sum &* sum).wrappedSum() / count }

  static func += (one: inout BlockSum, other: BlockSum) {
    one.sum &+= other.sum
    one.count += other.count
  }

  static func - (one: BlockSum, other: BlockSum) -> BlockSum {
    BlockSum(sum: one.sum &- other.sum, count: one.count - other.count)
  }
}

/// The colors of a character, by its rows, columns and quarters.
private struct BlockSums {
  var all = BlockSum()
  var rows = [BlockSum](repeating: BlockSum(), count: BlockDrawing.parts)
  var columns = [BlockSum](repeating: BlockSum(), count: BlockDrawing.parts)
  var quarters = [BlockSum](repeating: BlockSum(), count: 4)

  mutating func add(_ color: RGB, _ x: Int, _ y: Int) {
    let half = BlockDrawing.parts / 2
    let one = BlockSum(sum: SIMD3(Int(color.red), Int(color.green), Int(color.blue)), count: 1)
    all += one
    rows[y] += one
    columns[x] += one
    quarters[(y < half ? 0 : 2) + (x < half ? 0 : 1)] += one
  }

  func quarters(_ mask: Int) -> BlockSum {
    (0..<4).reduce(into: BlockSum()) { if mask & 1 << $1 != 0 { $0 += quarters[$1] } }
  }
}

/// An image without colors: eight dots per character, more of them where it is brighter.
enum DotDrawing {
  /// - Parameters:
  ///   - bitmap: two pixels across and four down for each character.
  ///   - isLight: true on a light screen, where dots are dark.
  static func cells(of bitmap: Bitmap, columns: Int, rows: Int, onLight isLight: Bool) -> [Cell] {
    var palette = Palette([RGB(0, 0, 0), RGB(255, 255, 255)])
    var gray: [UInt8] = []
    gray.reserveCapacity(bitmap.rgba.count)
    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        let level = UInt8(bitmap.color(x, y).brightness)
        gray += [level, level, level, bitmap.rgba[(y * bitmap.width + x) * 4 + 3]]
      }
    }
    let levels = palette.dithered(Bitmap(width: bitmap.width, height: bitmap.height, rgba: gray))
    // The dots of a character, row by row from the top, left before right (Unicode 17, chapter 21.1).
    let dots: [UInt32] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]
    return (0..<rows * columns).map { place in
      var pattern: UInt32 = 0
      for (index, dot) in dots.enumerated() {
        let (x, y) = (place % columns * 2 + index % 2, place / columns * 4 + index / 2)
        guard x < bitmap.width, y < bitmap.height else { continue }
        if levels[y * bitmap.width + x] == (isLight ? 0 : 1) { pattern |= dot }
      }
      return pattern == 0 ? Cell() : Cell(String(Unicode.Scalar(0x2800 + pattern)!))
    }
  }
}
