import FeedStream

/// Draws recordings as text, one under the other, so that what happens at one instant stands in one column.
struct MarbleText {
  /// A line of the drawing: what happens when, each event as its token.
  struct Lane {
    let title: String
    let events: [(time: StreamInstant.Stride, token: String)]
    /// Whether a line is drawn from event to event.
    var isStream = true
  }

  private let lanes: [Lane]

  init(_ lanes: [Lane]) { self.lanes = lanes }

  /// So many instants are drawn of a recording that is too long to be looked at.
  private static let most = 100

  /// The drawing: a line of times, then the lanes, then a mark under `mark`.
  ///
  /// Of more than a hundred instants those around `mark`, or else the first, are drawn; a last line tells how many are not.
  func draw(mark: StreamInstant.Stride? = nil) -> String {
    let all = Set(lanes.flatMap { $0.events.map(\.time) } + [0] + (mark.map { [$0] } ?? [])).sorted()
    let middle = mark.flatMap { all.firstIndex(of: $0) } ?? 0
    let first = all.count > Self.most ? min(max(0, middle - Self.most / 10), all.count - Self.most / 5) : 0
    let last = all.count > Self.most ? min(all.count, first + Self.most / 5) : all.count
    let instants = all[first..<last]
    let cells = lanes.map { lane in
      let tokens = Dictionary(
        grouping: lane.events.filter { instants.first! <= $0.time && $0.time <= instants.last! }, by: \.time)
      return instants.map { instant in Self.cell(tokens[instant, default: []].map(\.token)) }
    }
    let times = instants.map(\.nanoseconds.asTime)
    let widths = times.indices.map { column in
      ([times[column].columns + 1] + cells.map { $0[column].columns + 1 }).max()!
    }
    let titleWidth = (lanes.map(\.title.columns) + [0]).max()! + 2
    var lines = ["".padded(to: titleWidth) + zip(times, widths).map { $0.padded(to: $1) }.joined()]
    for (lane, row) in zip(lanes, cells) {
      let end = row.lastIndex { $0.contains("|") || $0.contains("#") } ?? row.count
      let drawn = row.indices.map { row[$0].padded(to: widths[$0], with: lane.isStream && $0 < end ? "-" : " ") }
      lines.append(lane.title.padded(to: titleWidth) + drawn.joined())
    }
    if let mark, let column = instants.firstIndex(of: mark).map({ $0 - first }) {
      lines.append(String(repeating: " ", count: titleWidth + widths[..<column].reduce(0, +)) + "^")
    }
    if instants.count < all.count {
      lines.append(
        "(of \(all.count) instants \(instants.count) are drawn: \(first) before them, \(all.count - last) after)")
    }
    return lines.map { $0.trimmed }.joined(separator: "\n")
  }

  /// What happens at one instant.
  private static func cell(_ tokens: [String]) -> String {
    guard tokens.count > most else { return tokens.count > 1 ? "(\(tokens.joined()))" : tokens.first ?? "" }
    return "(\(tokens.prefix(most / 5).joined())… \(tokens.count) in all …\(tokens.last!))"
  }
}
