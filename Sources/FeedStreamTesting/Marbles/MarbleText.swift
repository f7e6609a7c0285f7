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

  /// The drawing: a line of times, then the lanes, then a mark under `mark`.
  func draw(mark: StreamInstant.Stride? = nil) -> String {
    let instants = Set(lanes.flatMap { $0.events.map(\.time) } + [0] + (mark.map { [$0] } ?? [])).sorted()
    let cells = lanes.map { lane in
      instants.map { instant in
        let tokens = lane.events.filter { $0.time == instant }.map(\.token)
        return tokens.count > 1 ? "(\(tokens.joined()))" : tokens.first ?? ""
      }
    }
    let times = instants.map(\.nanoseconds.asTime)
    let widths = instants.indices.map { column in
      ([times[column].columns + 1] + cells.map { $0[column].columns + 1 }).max()!
    }
    let titleWidth = (lanes.map(\.title.columns) + [0]).max()! + 2
    var lines = ["".padded(to: titleWidth) + zip(times, widths).map { $0.padded(to: $1) }.joined()]
    for (lane, row) in zip(lanes, cells) {
      let end = row.lastIndex { $0.contains("|") || $0.contains("#") } ?? row.count
      let drawn = row.indices.map { row[$0].padded(to: widths[$0], with: lane.isStream && $0 < end ? "-" : " ") }
      lines.append(lane.title.padded(to: titleWidth) + drawn.joined())
    }
    if let mark, let column = instants.firstIndex(of: mark) {
      lines.append(String(repeating: " ", count: titleWidth + widths[..<column].reduce(0, +)) + "^")
    }
    return lines.map { $0.trimmed }.joined(separator: "\n")
  }
}
