import PlainText

/// Characters in rows and columns, and images drawn over them: the content of a screen, or of part of one.
package struct Grid: Hashable, Sendable {
  /// An image that isn't text, and its position.
  package struct Placed: Hashable, Sendable {
    package let row: Int
    package let column: Int
    package let drawing: Drawing
  }

  package let columns: Int
  package let rows: Int
  package private(set) var cells: [Cell]
  /// The images; the number in a cell minus one is the index of its image.
  package private(set) var images: [Placed] = []

  package init(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    cells = Array(repeating: Cell(), count: self.columns * self.rows)
  }

  package subscript(row: Int, column: Int) -> Cell { cells[row * columns + column] }

  /// Writes text, with control characters made visible, shortened with "…" to fit the room.
  ///
  /// - Parameter room: the number of columns that the text may take up; all columns up to the edge by default.
  /// - Returns: the number of columns that it took up.
  @discardableResult
  package mutating func write(
    _ text: String, _ ink: Ink = .plain, row: Int, column: Int, room: Int = .max
  ) -> Int {
    guard row >= 0, row < rows, column >= 0, column < columns else { return 0 }
    let room = min(room, columns - column)
    let safe = text.printable(limit: columns * 8)
    var used = 0
    let isWhole = safe.columns <= room
    for character in safe {
      let width = character.columns
      guard used + width <= (isWhole ? room : room - 1) else { break }
      if width == 0 { continue }
      put(Cell(String(character), ink), row, column + used)
      for more in stride(from: 1, to: width, by: 1) { put(Cell("", ink), row, column + used + more, continues: true) }
      used += width
    }
    if !isWhole, room > 0 {
      put(Cell("…", ink), row, column + used)
      used += 1
    }
    return used
  }

  /// Sets a cell. If this overwrites a part of a wide character, its other cells become spaces.
  private mutating func put(_ cell: Cell, _ row: Int, _ column: Int, continues: Bool = false) {
    let place = row * columns + column
    if !continues {
      // A row never begins within a character.
      var first = place
      while cells[first].text.isEmpty { first -= 1 }
      for other in first..<place { cells[other].text = " " }
    }
    var after = place + 1
    while after < cells.count, cells[after].text.isEmpty {
      cells[after].text = " "
      after += 1
    }
    cells[place] = cell
  }

  /// Changes the style of cells, but not their text.
  package mutating func paint(_ ink: Ink, row: Int, columns range: Range<Int>) {
    guard row >= 0, row < rows else { return }
    for column in range.clamped(to: 0..<columns) { cells[row * columns + column].ink = ink }
  }

  /// Adds an image at a position. An image that extends beyond the grid is cut off if it is made of characters;
  /// otherwise, it is not shown.
  package mutating func place(_ drawing: Drawing, row: Int, column: Int) {
    if case .cells(let drawn) = drawing.content {
      for y in 0..<drawing.rows where (0..<rows).contains(row + y) {
        for x in 0..<drawing.columns where (0..<columns).contains(column + x) {
          put(drawn[y * drawing.columns + x], row + y, column + x)
        }
      }
      return
    }
    guard row >= 0, column >= 0, row + drawing.rows <= rows, column + drawing.columns <= columns else { return }
    images.append(Placed(row: row, column: column, drawing: drawing))
    for y in 0..<drawing.rows {
      for x in 0..<drawing.columns {
        var cell = Cell()
        cell.image = images.count
        put(cell, row + y, column + x)
      }
    }
  }

  /// The text of the grid, row by row, without colors; `#` where an image is drawn over it.
  package var plainText: [String] {
    (0..<rows).map { row in
      let line = cells[row * columns..<(row + 1) * columns].map { $0.image > 0 ? "#" : $0.text }.joined()
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}
