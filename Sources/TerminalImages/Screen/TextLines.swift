import PlainText

extension String {
  /// The text, with control characters made visible, in lines of at most `columns` columns, broken at spaces, and
  /// within words that are longer than a line.
  ///
  /// - Parameters:
  ///   - columns: the maximum width of a line; at least 2. A character that is wider has a line of its own.
  ///   - most: the maximum number of lines; the last one ends with "…" if there would be more.
  package func lines(of columns: Int, most: Int = .max) -> [String] {
    let columns = max(columns, 2)
    var lines: [String] = []
    var line = ""
    var used = 0
    func end() {
      lines.append(line)
      (line, used) = ("", 0)
    }
    // More characters can't be shown, whatever their width.
    let text = most == .max ? printable : printable(limit: columns * most * 4)
    for word in text.split(whereSeparator: \.isWhitespace) {
      guard lines.count < most else { break }
      let width = word.columns
      if used > 0, used + 1 + width <= columns {
        line += " " + word
        used += 1 + width
        continue
      }
      if used > 0 { end() }
      for character in word {
        if used > 0, used + character.columns > columns { end() }
        line.append(character)
        used += character.columns
      }
    }
    if used > 0 { end() }
    guard lines.count > most, most > 0 else { return lines }
    lines = Array(lines.prefix(most))
    var last = lines[most - 1]
    while last.columns > columns - 1 { last.removeLast() }
    lines[most - 1] = last + "…"
    return lines
  }
}

extension Grid {
  /// Writes lines one below another, and leaves out those that don't fit.
  ///
  /// - Returns: the number of lines, including those left out.
  @discardableResult
  package mutating func write(
    _ lines: [String], _ ink: Ink = .plain, row: Int, column: Int, room: Int = .max
  ) -> Int {
    for (index, line) in lines.enumerated() { write(line, ink, row: row + index, column: column, room: room) }
    return lines.count
  }

  /// Draws a heavy frame, and leaves its content unchanged.
  package mutating func frame(_ ink: Ink, row: Int, column: Int, columns: Int, rows: Int) {
    box("┏━┓┃┗┛", ink, row: row, column: column, columns: columns, rows: rows)
  }

  /// Draws a box.
  ///
  /// - Parameter lines: the upper left corner, the top, the upper right corner, the sides, and the lower corners.
  private mutating func box(_ lines: String, _ ink: Ink, row: Int, column: Int, columns: Int, rows: Int) {
    guard columns >= 2, rows >= 2 else { return }
    let lines = lines.map(String.init)
    let bar = String(repeating: lines[1], count: columns - 2)
    write(lines[0] + bar + lines[2], ink, row: row, column: column)
    write(lines[4] + bar + lines[5], ink, row: row + rows - 1, column: column)
    for y in row + 1..<row + rows - 1 {
      write(lines[3], ink, row: y, column: column)
      write(lines[3], ink, row: y, column: column + columns - 1)
    }
  }

  /// Draws a frame with text in its middle, in place of an image.
  package mutating func placeholder(
    _ text: String, _ ink: Ink, row: Int, column: Int, columns: Int, rows: Int
  ) {
    guard columns >= 4, rows >= 1 else { return }
    if rows >= 3 { box("┌─┐│└┘", ink, row: row, column: column, columns: columns, rows: rows) }
    let room = rows >= 3 ? rows - 2 : rows
    let lines = text.lines(of: columns - 2, most: room)
    let top = row + (rows - lines.count) / 2
    for (index, line) in lines.enumerated() {
      let left = max(0, columns - 2 - line.columns) / 2
      write(line, ink, row: top + index, column: column + 1 + left, room: columns - 2)
    }
  }

  /// Draws an image in a box: in the middle, or, if `isLow`, at the lower edge, above its description.
  package mutating func place(
    _ drawing: Drawing, inBoxAt row: Int, _ column: Int, columns: Int, rows: Int, isLow: Bool = false
  ) {
    let above = max(0, rows - drawing.rows)
    place(drawing, row: row + (isLow ? above : above / 2), column: column + max(0, (columns - drawing.columns) / 2))
  }
}
