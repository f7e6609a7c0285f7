extension Grid {
  /// The grid as lines of a terminal that scrolls, each with a line break. Images are drawn last, when the lines have
  /// made room for them. Afterward, the cursor is below the last line.
  package func lines(_ depth: ColorDepth) -> [UInt8] {
    var bytes: [UInt8] = []
    for row in 0..<rows {
      append(row, depth, to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    for image in images {
      bytes += "\u{1B}7\u{1B}[\(rows - image.row)A\r".utf8
      if image.column > 0 { bytes += "\u{1B}[\(image.column)C".utf8 }
      switch image.drawing.content {
      case .cells: break
      case .sixel(let sixels): bytes += sixels
      case .kitty(let kitty): bytes += kitty.shown(columns: image.drawing.columns, rows: image.drawing.rows)
      }
      bytes += "\u{1B}8".utf8
    }
    return bytes
  }

  private func append(_ row: Int, _ depth: ColorDepth, to bytes: inout [UInt8]) {
    let line = cells[row * columns..<(row + 1) * columns]
    guard let last = line.lastIndex(where: { $0.text != " " || $0.ink.isSeen }) else { return }
    var ink = Ink.plain
    for cell in line[...last] {
      // A space doesn't show the color of its text.
      if cell.ink != ink, cell.text != " " || cell.ink.isSeen || ink.isSeen {
        ink = cell.ink
        bytes += (ink == .plain ? "\u{1B}[0m" : ink.sequence(depth)).utf8
      }
      bytes += cell.text.utf8
    }
    if ink != .plain { bytes += "\u{1B}[0m".utf8 }
  }
}

extension Ink {
  /// True if even a space shows the style.
  var isSeen: Bool { background != .standard || isReversed }
}
