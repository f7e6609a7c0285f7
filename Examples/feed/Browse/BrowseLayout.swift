import FeedStream
import TerminalPictures

/// The layout of the screen.
struct BrowseLayout: Equatable {
  let columns: Int
  let rows: Int
  /// The number of images that are side by side, and one below another.
  let across: Int
  let down: Int
  /// The columns and rows of an image in the grid, and of one alone.
  let tile: (columns: Int, rows: Int)
  let single: (columns: Int, rows: Int)
  /// The distance from one row of images to the next.
  let step: Int
  /// The rows at the bottom: the image that is selected where there is room for it, and the keys.
  let footer: Int

  init(_ size: TerminalSize, cell: CellSize) {
    columns = max(size.columns, 1)
    rows = max(size.rows, 1)
    footer = rows >= 16 ? 2 : 1
    let body = max(rows - 1 - footer, 1)
    across = max(1, min(columns / 19, max(3, columns / 40)))
    let width = (columns - 2 * (across - 1)) / across
    // As high as most images are, which are three to two; and a line for what it shows, and an empty one.
    let ideal = Double(width * cell.width * 2) / Double(3 * cell.height) + 2
    down = max(1, Int((Double(body) / ideal).rounded()))
    step = max(body / down, 1)
    tile = (width, max(step - 2, 1))
    single = (columns, max(rows - 1 - 4, 1))
  }

  var perScreen: Int { across * down }

  static func == (one: BrowseLayout, other: BrowseLayout) -> Bool {
    one.columns == other.columns && one.rows == other.rows && one.tile == other.tile
  }
}

extension BrowseState {
  var layout: BrowseLayout { BrowseLayout(size, cell: abilities?.cell ?? .usual) }
}
