/// The size of one of the terminal's characters, in pixels.
package struct CellSize: Hashable, Sendable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The default if a terminal does not report the size: twice as high as wide.
  package static let usual = CellSize(width: 8, height: 16)
}

/// The size at which an image is drawn within a box of characters.
package struct ImageFit: Hashable, Sendable {
  /// The size in characters.
  package var columns: Int
  package var rows: Int
  /// The size in the terminal's pixels.
  package var width: Int
  package var height: Int

  /// The largest size in which the image keeps its proportions and fits the box.
  ///
  /// - Parameter isEnlarged: true to fill the box; by default, the image is not enlarged.
  /// - Precondition: the box has at least one row and one column.
  package init(width: Int, height: Int, columns: Int, rows: Int, cell: CellSize, isEnlarged: Bool = false) {
    precondition(columns > 0 && rows > 0, "ImageFit: a box of \(columns) × \(rows) holds nothing; use 1 or more")
    let room = (width: columns * cell.width, height: rows * cell.height)
    let largest = min(Double(room.width) / Double(width), Double(room.height) / Double(height))
    let scale = isEnlarged ? largest : min(1, largest)
    self.width = min(max(1, Int((Double(width) * scale).rounded())), room.width)
    self.height = min(max(1, Int((Double(height) * scale).rounded())), room.height)
    self.columns = (self.width + cell.width - 1) / cell.width
    self.rows = (self.height + cell.height - 1) / cell.height
  }

  /// The number of parts that the image takes if each character has `across` by `down` parts; at least one, and at most
  /// as many as its characters have.
  func parts(across: Int, down: Int, cell: CellSize) -> (width: Int, height: Int) {
    let wide = (Double(width * across) / Double(cell.width)).rounded()
    let high = (Double(height * down) / Double(cell.height)).rounded()
    return (min(max(1, Int(wide)), columns * across), min(max(1, Int(high)), rows * down))
  }
}
