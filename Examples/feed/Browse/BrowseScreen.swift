import Foundation
import ImageFeed
import PlainText
import TerminalImages

/// Draws the screen for a state, without side effects.
enum BrowseScreen {
  static func grid(of state: BrowseState) -> Grid {
    var grid = Grid(columns: state.size.columns, rows: state.size.rows)
    let layout = state.layout
    guard layout.columns >= 16, layout.rows >= 5 else {
      grid.write("Too small.", row: 0, column: 0)
      return grid
    }
    title(of: state, in: &grid)
    switch state.view {
    case .help: help(in: &grid, layout)
    case .origins: origins(of: state, in: &grid, layout)
    case .grid where state.timeline.isEmpty, .single where state.timeline.isEmpty:
      nothing(of: state, in: &grid, layout)
    case .grid: tiles(of: state, in: &grid, layout)
    case .single: single(of: state, in: &grid, layout)
    }
    footer(of: state, in: &grid, layout)
    return grid
  }

  // MARK: - Above and below

  private static func title(of state: BrowseState, in grid: inout Grid) {
    let right =
      state.timeline.isEmpty ? "" : " \(state.selected + 1)/\(state.timeline.count)\(hasMore(state) ? "+" : "") "
    let room = grid.columns - right.columns - 1
    for column in 0..<grid.columns { grid.write(" ", bar, row: 0, column: column) }
    let name = state.sources.count == 1 ? state.sources[0].name : "\(state.sources.count) feeds"
    var used = grid.write(
      " \(name.isEmpty ? state.sources[0].address.shown : name)", Ink(bold: true, reversed: true), row: 0, column: 0,
      room: room)
    used += grid.write(
      " · \(state.filterWords ?? origin(of: state))", bar, row: 0, column: used, room: max(room - used, 0))
    grid.write(right, bar, row: 0, column: grid.columns - right.columns)
  }

  private static let bar = Ink(reversed: true)

  private static func hasMore(_ state: BrowseState) -> Bool { state.sources.contains { $0.hasMore && $0.feed != nil } }

  /// A summary of the feeds' origins.
  private static func origin(of state: BrowseState) -> String {
    if state.isLoading { return "loading…" }
    let sources = state.sources
    if sources.count == 1 { return origin(of: sources[0], now: state.now) }
    let saved = sources.count(where: { if case .cache? = $0.feed?.source { true } else { false } })
    let incomplete = sources.count(where: { $0.feed?.source.isPart == true })
    let failed = sources.count(where: { $0.feed == nil })
    let parts = [(saved, "from the cache"), (incomplete, "incomplete"), (failed, "failed")].filter { $0.0 > 0 }
    if parts.isEmpty { return "from their servers" }
    let isOneKind = parts[0].0 == sources.count
    return parts.map { isOneKind ? $0.1 : "\($0.0) \($0.1)" }.joined(separator: ", ") + " (press i)"
  }

  static func origin(of source: BrowseState.Source, now: Date) -> String {
    guard let feed = source.feed else { return source.failure == nil ? "loading…" : "nothing to show" }
    switch feed.source {
    case .remote:
      let age = source.loadedAt.map { Duration.seconds(now.timeIntervalSince($0)) } ?? .zero
      return age < .seconds(60) ? "server, just now" : "server, \(age.ago)"
    case .cache(let savedAt, _, let reason):
      let age = Duration.seconds(now.timeIntervalSince(savedAt))
      let trouble =
        switch reason {
        case .connectivity: ", unreachable"
        case .invalidData: ", failing"
        case .unchanged, .notDue, .notAsked: ""
        }
      return "saved \(age.ago)\(trouble)"
    case .part: return "server, incomplete"
    }
  }

  private static func footer(of state: BrowseState, in grid: inout Grid, _ layout: BrowseLayout) {
    let row = layout.rows - 1
    if layout.footer > 1, state.view == .grid, let entry = state.current {
      let parts = [
        entry.image.caption.visible ?? "(no description)", entry.image.location.visible, source(of: entry, state),
      ]
      grid.write(parts.compactMap { $0 }.joined(separator: " · "), row: row - 1, column: 0)
    }
    if !state.message.isEmpty {
      grid.write(state.message, Ink(.yellow), row: row, column: 0)
    } else {
      let hint = hints(for: state).first { $0.columns <= layout.columns } ?? "? help"
      grid.write(hint, .dim, row: row, column: 0)
    }
  }

  /// The keys to mention at the bottom, from the most to the fewest.
  private static func hints(for state: BrowseState) -> [String] {
    if state.isTyping { return ["Enter keep the matches  Esc cancel", "Enter keep  Esc cancel", "Esc cancel"] }
    return switch state.view {
    case .help, .origins: ["Any key: back"]
    case .single:
      [
        "←→ image  ↑↓ post  + − zoom  O open post  * star  d save  Esc back  ? help  q quit",
        "+ − zoom  O open  * star  d save  Esc back  ? help  q quit", "Esc back  ? help  q quit",
      ]
    case .grid:
      [
        "←↑↓→ move  Enter enlarge  O open post  * star  d save  / search  Tab feed  ? help  q quit",
        "Enter enlarge  O open  * star  / search  ? help  q quit", "Enter enlarge  ? help  q quit",
      ]
    }
  }

  /// The name of an image's feed, and the publication date.
  private static func source(of entry: FeedTimeline.Entry, _ state: BrowseState) -> String? {
    let name = state.sources.count > 1 ? entry.name : nil
    let parts = [name, entry.image.published?.dayAndTime].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  // MARK: - Images

  private static func tiles(of state: BrowseState, in grid: inout Grid, _ layout: BrowseLayout) {
    for place in 0..<layout.perScreen {
      let index = state.top * layout.across + place
      guard index < state.timeline.count else { break }
      let (row, column) = layout.corner(of: place)
      let (columns, rows) = layout.tile
      let entry = state.timeline[index]
      image(of: entry, state, in: &grid, row, column, layout.tile)
      let isSelected = index == state.selected
      let count = entry.image.images.count
      // Without a frame, an arrow and the caption's style mark the selected image.
      let marks =
        (isSelected && !layout.hasFrame ? "▸" : "") + (state.isStarred(entry) ? "★ " : "")
        + (state.isNew(entry) ? "● " : "") + (count > 1 ? "1/\(count) " : "")
      let words = marks + (entry.image.caption.visible ?? "(no description)")
      let caption = words.lines(of: columns, most: 1).first ?? ""
      let ink = isSelected ? Ink(bold: true, reversed: !layout.hasFrame) : .plain
      // Center the caption below the image.
      grid.write(caption, ink, row: row + rows, column: column + max(columns - caption.columns, 0) / 2, room: columns)
      guard isSelected else { continue }
      if layout.hasFrame {
        grid.frame(frame, row: row - 1, column: column - 1, columns: columns + 2, rows: rows + 3)
      } else {
        // Paint the whole width of the tile, because a caption of one word is easily overlooked.
        grid.paint(ink, row: row + rows, columns: column..<column + columns)
      }
    }
  }

  private static let frame = Ink(.cyan, bold: true)

  private static func image(
    of entry: FeedTimeline.Entry, url: URL? = nil, _ state: BrowseState, in grid: inout Grid, _ row: Int,
    _ column: Int, _ size: (columns: Int, rows: Int)
  ) {
    guard let box = state.imageBox else { return }
    switch state.drawings[ImageKey(entry, url: url, box: box)] {
    case .success(let drawing):
      grid.place(
        drawing, inBoxAt: row, column, columns: size.columns, rows: size.rows, isLow: state.view == .grid)
    case .failure(let error):
      let reason = state.view == .single ? error.details ?? error.reason : error.reason
      grid.placeholder(reason, .dim, row: row, column: column, columns: size.columns, rows: size.rows)
    case nil: grid.placeholder("…", .dim, row: row, column: column, columns: size.columns, rows: size.rows)
    }
  }

  private static func single(of state: BrowseState, in grid: inout Grid, _ layout: BrowseLayout) {
    guard let entry = state.current else { return }
    image(of: entry, url: state.currentURL, state, in: &grid, layout.header, 0, layout.single)
    let row = layout.rows - 4
    let parts = state.parts
    let place = parts.count > 1 ? "\(state.part + 1)/\(parts.count) " : ""
    let caption = (state.isStarred(entry) ? "★ " : "") + place + (entry.image.caption.visible ?? "(no description)")
    let lines = caption.lines(of: layout.columns, most: 1)
    grid.write(lines, .bold, row: row, column: 0)
    let alt = parts.count > 1 && parts.indices.contains(state.part) ? parts[state.part].alt.visible : nil
    let about = [alt, entry.image.location.visible, source(of: entry, state)].compactMap { $0 }.joined(separator: " · ")
    grid.write(about, row: row + 1, column: 0)
    grid.write(
      entry.image.post.linkText?.printable ?? state.currentURL?.absoluteString ?? "", .dim, row: row + 2, column: 0)
  }

  // MARK: - Text

  private static func help(in grid: inout Grid, _ layout: BrowseLayout) {
    let left = min(28, layout.columns / 2)
    // Leave an empty line below the title if there is room.
    let top = BrowseState.keys.count > layout.rows - 3 ? 1 : 2
    for (row, line) in zip(top..<layout.rows - 1, BrowseState.keys) {
      grid.write(line.keys, .bold, row: row, column: 1, room: left - 2)
      grid.write(line.meaning, row: row, column: left)
    }
  }

  private static func origins(of state: BrowseState, in grid: inout Grid, _ layout: BrowseLayout) {
    var row = 2
    for source in state.sources {
      guard row < layout.rows - 3 else {
        grid.write("…", .dim, row: row, column: 1)
        return
      }
      grid.write(source.name.isEmpty ? source.address.shown : source.name, .bold, row: row, column: 1)
      row += 1
      var lines = [
        "\(source.feed.map { counted($0.images.count, "image") + ", " } ?? "")\(origin(of: source, now: state.now))"
      ]
      switch source.feed?.source {
      case .cache(let savedAt, _, let reason)?:
        lines[0] += " (\(savedAt.dayAndTime))"
        lines.append("\(reason)")
      case .part(let reason)?: lines.append("\(reason)")
      case .remote?, nil: break
      }
      lines += [source.failure, source.address.shown].compactMap { $0 }
      for line in lines.flatMap({ $0.lines(of: layout.columns - 4, most: 3) }) where row < layout.rows - 2 {
        grid.write(line, row: row, column: 3)
        row += 1
      }
      row += 1
    }
  }

  private static func nothing(of state: BrowseState, in grid: inout Grid, _ layout: BrowseLayout) {
    var row = 2
    for line in reasons(of: state).flatMap({ $0.lines(of: layout.columns - 2, most: 6) }) where row < layout.rows - 1 {
      grid.write(line, row: row, column: 1)
      row += 1
    }
  }

  /// The reasons why there are no images.
  private static func reasons(of state: BrowseState) -> [String] {
    if state.isSearching { return ["Searching…"] }
    if state.isLoading { return ["Loading…"] }
    let filter = state.filter
    let all = filter.isActive ? " Esc shows all." : ""
    if filter.hasWords { return ["No matches." + all] }
    let kind = (filter.isNew ? " new" : "") + (filter.isStarred ? " starred" : "")
    let failures = state.sources.filter { filter.has($0.address) }
      .compactMap { source in source.failure.map { "\(source.address.shown): \($0)" } }
    return kind.isEmpty && !failures.isEmpty ? failures : ["No\(kind) images.\(all)"]
  }
}
