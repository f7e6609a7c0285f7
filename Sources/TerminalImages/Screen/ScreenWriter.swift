internal import FeedStream

/// The bytes that turn a terminal's screen from one grid into another: the cells that differ, and the images.
package struct ScreenWriter {
  private let depth: ColorDepth
  private let memory: Int
  private var shown: Grid?
  /// The images that the terminal keeps (kitty), most recently used last, with their numbers; and their approximate
  /// total size in bytes.
  private var kept: [(drawing: Drawing, number: Int)] = []
  private var keptBytes = 0
  private var count = 0

  /// - Parameter memory: the maximum number of bytes of hidden images that the terminal keeps; 32 MiB by default.
  package init(depth: ColorDepth, memory: Int = 32 << 20) {
    self.depth = depth
    self.memory = memory
  }

  /// The sequence that takes over the whole screen: it switches to the alternate screen, hides the cursor, turns off
  /// line wrapping, and turns on mouse reports.
  package static let entering =
    "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[0m\u{1B}[2J" + String(decoding: TerminalMouse.reporting, as: UTF8.self)

  /// The sequence that restores the screen, even if it was taken over only partly.
  ///
  /// - Parameter mode: the way images were shown.
  package static func leaving(_ mode: ImageMode?) -> String {
    let forgetting = mode == .kitty ? String(decoding: Kitty.allForgotten, as: UTF8.self) : ""
    // First end a sequence that was cut off, even one within an image.
    let mouse = String(decoding: TerminalMouse.quiet, as: UTF8.self)
    return "\u{1B}\\" + forgetting + mouse + "\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
  }

  /// Forgets the content of the screen, because other code has written to it.
  package mutating func reset() { shown = nil }

  /// The bytes that make the screen show `next`; empty if it already does.
  package mutating func bytes(showing next: Grid) -> [UInt8] {
    guard next != shown else { return [] }
    // A terminal with synchronized output shows all changes at once.
    var bytes = Array("\u{1B}[?2026h".utf8)
    var former = shown
    if former?.columns != next.columns || former?.rows != next.rows {
      // kitty forgets its images when the screen is cleared; other terminals may keep them.
      for one in kept { bytes += Kitty.forgotten(one.number) }
      (kept, keptBytes) = ([], 0)
      bytes += "\u{1B}[0m\u{1B}[2J".utf8
      former = nil
    }
    let staying = Set(former?.images ?? []).intersection(next.images)
    for image in former?.images ?? [] where !staying.contains(image) { remove(image, &bytes) }
    writeCells(of: next, over: former, staying, &bytes)
    for image in next.images where !staying.contains(image) { show(image, in: next, &bytes) }
    forgetOld(showing: next, &bytes)
    shown = next
    return bytes + "\u{1B}[0m\u{1B}[?2026l".utf8
  }

  private func writeCells(
    of next: Grid, over former: Grid?, _ staying: Set<Grid.Placed>, _ bytes: inout [UInt8]
  ) {
    let empty = Cell()
    let gone = (former?.images ?? []).map { !staying.contains($0) }
    var ink: Ink?
    for row in 0..<next.rows {
      var isThere = false
      for column in 0..<next.columns {
        let cell = next[row, column]
        let old = former?[row, column] ?? empty
        let isUncovered = old.image > 0 && gone[old.image - 1]
        // A wide character is written with its first cell.
        guard !cell.text.isEmpty, isUncovered || cell.text != old.text || cell.ink != old.ink else {
          isThere = false
          continue
        }
        if !isThere { bytes += "\u{1B}[\(row + 1);\(column + 1)H".utf8 }
        if cell.ink != ink {
          bytes += cell.ink.sequence(depth).utf8
          ink = cell.ink
        }
        var width = 1
        while column + width < next.columns, next[row, column + width].text.isEmpty { width += 1 }
        // Terminals disagree on the width of emoji and Indic syllables. So first clear all of a wide character's cells,
        // and move the cursor after it.
        if width > 1 { bytes += "\(String(repeating: " ", count: width))\u{1B}[\(row + 1);\(column + 1)H".utf8 }
        bytes += cell.text.utf8
        isThere = width == 1
      }
    }
  }

  // MARK: - Images

  private func place(_ image: Grid.Placed, in columns: Int) -> Int { image.row * columns + image.column + 1 }

  private mutating func show(_ image: Grid.Placed, in grid: Grid, _ bytes: inout [UInt8]) {
    let drawing = image.drawing
    bytes += "\u{1B}[0m\u{1B}[\(image.row + 1);\(image.column + 1)H".utf8
    switch drawing.content {
    case .cells: break
    case .sixel(let sixels): bytes += sixels
    case .kitty(let kitty):
      let number: Int
      if let index = kept.firstIndex(where: { $0.drawing == drawing }) {
        let one = kept.remove(at: index)
        kept.append(one)
        number = one.number
      } else {
        count += 1
        number = count + Kitty.questionNumber
        kept.append((drawing, number))
        keptBytes += kitty.size
        bytes += kitty.kept(as: number)
      }
      bytes += Kitty.placed(
        number, at: place(image, in: grid.columns), columns: drawing.columns, rows: drawing.rows)
    }
  }

  private func remove(_ image: Grid.Placed, _ bytes: inout [UInt8]) {
    guard case .kitty = image.drawing.content, let columns = shown?.columns,
      let one = kept.first(where: { $0.drawing == image.drawing })
    else { return }
    bytes += Kitty.removed(one.number, at: place(image, in: columns))
  }

  private mutating func forgetOld(showing next: Grid, _ bytes: inout [UInt8]) {
    var index = 0
    while keptBytes > memory, index < kept.count {
      let one = kept[index]
      if next.images.contains(where: { $0.drawing == one.drawing }) {
        index += 1
        continue
      }
      if case .kitty(let kitty) = one.drawing.content { keptBytes -= kitty.size }
      kept.remove(at: index)
      bytes += Kitty.forgotten(one.number)
    }
  }
}
