import Foundation
import ImageFeed
import PlainText
import TerminalImages

/// Items with their images, for a terminal that scrolls: next to their descriptions, or side by side.
struct ImageBlocks: Sendable {
  /// An image and its place in the list.
  struct Entry: Sendable {
    var number: Int
    var image: FeedImage
    /// The feed that lists the image.
    var feed: URL
    /// True if the feed came from a private network; `nil` if that is unknown.
    var isPrivate: Bool?
    /// The feed's name, if there are several feeds.
    var origin: String?
  }

  let columns: Int
  /// The number of images next to each other.
  let across: Int
  let box: ImageBox
  /// The color depth of text; images use the depth of their own mode.
  private let depth: ColorDepth
  private let hasColor: Bool
  private let isGrid: Bool
  private let digits: Int

  /// - Parameters:
  ///   - screen: the size of the terminal, in characters.
  ///   - count: the number of images.
  ///   - hasColor: true if text is highlighted.
  /// - Returns: `nil` if there is no room for images.
  init?(
    screen: (columns: Int, rows: Int), count: Int, isGrid: Bool, abilities: TerminalAbilities, hasColor: Bool
  ) {
    columns = screen.columns
    self.isGrid = isGrid
    self.hasColor = hasColor
    digits = String(count).count
    depth = abilities.depth
    let cell = abilities.cell ?? .usual
    if isGrid {
      // Use as many columns as possible without making images too narrow.
      across = max(1, min(columns / 20, max(3, columns / 40)))
      let width = (columns - 2 * (across - 1)) / across
      box = ImageBox(columns: width, rows: min(max(screen.rows / 3, 4), 14), mode: abilities.mode, cell: cell)
    } else {
      across = 1
      let width = min(max(columns / 4, 10), 28)
      box = ImageBox(columns: width, rows: min(max(screen.rows / 4, 4), 8), mode: abilities.mode, cell: cell)
    }
    guard columns >= 24, screen.rows > box.rows + 2 else { return nil }
  }

  /// The bytes of one row of images in a grid, or otherwise of one image and its text.
  func bytes(of entries: [(Entry, Result<Drawing, NoImage>)]) -> [UInt8] {
    isGrid ? tiles(entries) : entries.flatMap { block($0.0, $0.1) }
  }

  // MARK: - Next to the text

  private func block(_ entry: Entry, _ result: Result<Drawing, NoImage>) -> [UInt8] {
    let left = box.columns + 2
    let margin = String(repeating: " ", count: digits + 2)
    let room = columns - left - margin.count
    let number = String(entry.number)
    var lines: [(text: String, ink: Ink)] = []
    let description = entry.image.caption.visible
    let title = (description ?? "(no description)").lines(of: room, most: 12)
    for (index, line) in title.enumerated() {
      let head = index == 0 ? String(repeating: " ", count: digits - number.count) + number + ". " : margin
      lines.append((head + line, ink(description == nil ? .dim : .bold)))
    }
    for text in [entry.origin, entry.image.location.visible, entry.image.linkShown].compactMap({ $0 }) {
      for line in text.lines(of: room, most: 4) { lines.append((margin + line, .plain)) }
    }
    let address = entry.image.addressText.printable
    let isShort = address.columns <= room
    if isShort { lines.append((margin + address, ink(.dim))) }
    let height = (try? result.get().rows) ?? min(box.rows, 4)
    var grid = Grid(columns: columns, rows: max(height, lines.count))
    draw(result, in: &grid, row: 0, column: 0, rows: height)
    for (row, line) in lines.enumerated() { grid.write(line.text, line.ink, row: row, column: left) }
    var bytes = grid.lines(hasColor ? depth : imageDepth)
    // A long URL is not shortened, so that it can be copied.
    if !isShort { bytes += "\(ink(.dim).opening(hasColor))\(address)\(ink(.dim).closing(hasColor))\n".utf8 }
    return bytes + [UInt8(ascii: "\n")]
  }

  // MARK: - Side by side

  private func tiles(_ entries: [(Entry, Result<Drawing, NoImage>)]) -> [UInt8] {
    let captions = entries.map { entry, _ in
      "\(entry.number). \(entry.image.caption.visible ?? "(no description)")".lines(of: box.columns, most: 2)
    }
    let below = captions.map(\.count).max() ?? 0
    let hasOrigin = entries.contains { $0.0.origin != nil }
    let height = entries.map { (try? $0.1.get().rows) ?? min(box.rows, 4) }.max() ?? 0
    var grid = Grid(columns: columns, rows: height + below + (hasOrigin ? 1 : 0))
    for (index, (entry, result)) in entries.enumerated() {
      let left = index * (box.columns + 2)
      draw(result, in: &grid, row: 0, column: left, rows: height)
      grid.write(captions[index], ink(.bold), row: height, column: left, room: box.columns)
      if let origin = entry.origin {
        grid.write(origin, ink(.dim), row: height + captions[index].count, column: left, room: box.columns)
      }
    }
    return grid.lines(hasColor ? depth : imageDepth) + [UInt8(ascii: "\n")]
  }

  private func draw(
    _ result: Result<Drawing, NoImage>, in grid: inout Grid, row: Int, column: Int, rows: Int
  ) {
    switch result {
    case .success(let drawing):
      grid.place(drawing, inBoxAt: row, column, columns: box.columns, rows: rows, isLow: isGrid)
    case .failure(let error):
      grid.placeholder(
        error.reason, ink(.dim), row: row, column: column, columns: box.columns, rows: max(rows, min(box.rows, 4)))
    }
  }

  /// The style of text, unless colors are turned off.
  private func ink(_ ink: Ink) -> Ink { hasColor ? ink : .plain }

  private var imageDepth: ColorDepth { if case .blocks(let depth) = box.mode { depth } else { .none } }
}

extension Ink {
  fileprivate func opening(_ isWanted: Bool) -> String { isWanted ? sequence(.sixteen) : "" }
  fileprivate func closing(_ isWanted: Bool) -> String { isWanted ? "\u{1B}[0m" : "" }
}
