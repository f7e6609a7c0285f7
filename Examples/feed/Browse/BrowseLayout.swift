import FeedStream
import TerminalImages

/// The layout of the screen.
struct BrowseLayout {
  let columns: Int
  let rows: Int
  /// The number of images in a row, and the number of rows.
  let across: Int
  let down: Int
  /// The rows at the top: the title, and an empty line if there is room.
  let header: Int
  /// The size, in columns and rows, of an image in the grid, and of a single image.
  let tile: (columns: Int, rows: Int)
  let single: (columns: Int, rows: Int)
  /// The distance from one row of images to the next.
  let step: Int
  /// The rows at the bottom: the description of the selected image if there is room, and the keys.
  let footer: Int

  init(_ size: TerminalSize, cell: CellSize) {
    columns = max(size.columns, 1)
    rows = max(size.rows, 1)
    footer = rows >= 16 ? 2 : 1
    header = rows >= 10 ? 2 : 1
    let body = max(rows - header - footer, 1)
    across = max(1, min(columns / 19, max(3, columns / 40)))
    // Leave a column on each side for the frame around the selected image.
    let width = columns / across - 2
    // Make tiles as high as most images, which are 3:2, and add a line for the caption and an empty line.
    let ideal = Double(width * cell.width * 2) / Double(3 * cell.height) + 2
    down = max(1, Int((Double(body) / ideal).rounded()))
    step = max(body / down, 1)
    tile = (width, max(step - 2, 1))
    single = (columns, max(rows - header - 4, 1))
  }

  var perScreen: Int { across * down }
  /// True when there is room for a frame around an image and its caption.
  var hasFrame: Bool { header > 1 && step > 3 }

  /// The upper left corner of the image at a place on the screen, from 0.
  func corner(of place: Int) -> (row: Int, column: Int) {
    (header + place / across * step, place % across * (tile.columns + 2) + 1)
  }

  /// The place of the image whose area, including its caption, contains a character of the screen.
  func place(atRow row: Int, column: Int) -> Int? {
    let (line, place) = ((row - header) / step, column / (tile.columns + 2))
    guard row >= header, line < down, column >= 0, place < across else { return nil }
    return line * across + place
  }
}

extension BrowseState {
  var layout: BrowseLayout { BrowseLayout(size, cell: abilities?.cell ?? .usual) }
}
