/// A way to show images in a terminal.
package enum ImageMode: Hashable, Sendable {
  /// kitty's graphics protocol.
  case kitty
  /// Sixels with that many colors; partly transparent pixels are blended with the background color.
  case sixel(colors: Int, on: RGB = RGB(0, 0, 0))
  /// Blocks in that many colors.
  case blocks(ColorDepth)
  /// Dots without color.
  case dots(onLight: Bool)

  /// True if images are drawn over the characters instead of being made of them.
  package var isGraphic: Bool {
    switch self {
    case .kitty, .sixel: true
    case .blocks, .dots: false
    }
  }
}

/// An image, ready to be shown within a box of characters.
///
/// Create it off the loop, because a large one takes tens of milliseconds.
package struct Drawing: Sendable {
  package enum Content: Sendable {
    /// The characters, row by row.
    case cells([Cell])
    case sixel([UInt8])
    case kitty(Kitty)
  }

  package let columns: Int
  package let rows: Int
  package let content: Content
  /// Identifies the pixels, because comparing them would take too long for the loop.
  let digest: Int

  /// - Parameters:
  ///   - columns: the width of the box, in characters.
  ///   - rows: the height of the box.
  ///   - cell: the size of a character.
  ///   - isEnlarged: true to enlarge an image that is smaller than the box.
  package init(
    _ bitmap: Bitmap, columns: Int, rows: Int, mode: ImageMode, cell: CellSize, isEnlarged: Bool = false
  ) {
    let fit = ImageFit(
      width: bitmap.width, height: bitmap.height, columns: columns, rows: rows, cell: cell, isEnlarged: isEnlarged)
    self.columns = fit.columns
    self.rows = fit.rows
    let size =
      switch mode {
      case .kitty, .sixel: (width: fit.width, height: fit.height)
      case .blocks: fit.parts(across: BlockDrawing.parts, down: BlockDrawing.parts, cell: cell)
      case .dots: fit.parts(across: 2, down: 4, cell: cell)
      }
    let scaled = bitmap.scaled(toWidth: size.width, height: size.height)
    var hasher = Hasher()
    hasher.combine(mode)
    hasher.combine(scaled)
    digest = hasher.finalize()
    content =
      switch mode {
      case .kitty: .kitty(Kitty(scaled))
      case .sixel(let colors, let background):
        .sixel(Sixel.encode(scaled.blended(over: background), colors: colors))
      case .blocks: .cells(BlockDrawing.cells(of: scaled, columns: fit.columns, rows: fit.rows))
      case .dots(let isLight):
        .cells(DotDrawing.cells(of: scaled, columns: fit.columns, rows: fit.rows, onLight: isLight))
      }
  }
}

extension Drawing: Hashable {
  package static func == (one: Drawing, other: Drawing) -> Bool {
    one.digest == other.digest && one.columns == other.columns && one.rows == other.rows
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
