import FeedStream

/// Draws recordings as text, one below the other, with simultaneous events in the same column.
struct MarbleText {
  /// A line of the drawing, with its events as tokens and their times.
  struct Lane {
    let title: String
    let events: [(time: StreamInstant.Stride, token: String)]
    /// True when a line is drawn from event to event.
    let isStream: Bool
    /// The time when the line begins.
    let start: StreamInstant.Stride
    /// The time when the line ends; `nil` if it doesn't.
    let ending: StreamInstant.Stride?

    /// - Parameter ending: the time when the line ends; by default, the time of the completion.
    init(
      title: String, events: [(time: StreamInstant.Stride, token: String)], isStream: Bool = true,
      start: StreamInstant.Stride = 0, ending: StreamInstant.Stride? = nil
    ) {
      self.title = title
      self.events = events
      self.isStream = isStream
      self.start = start
      self.ending = ending ?? events.last { $0.token.hasPrefix("|") || $0.token.hasPrefix("#") }?.time
    }

    /// True if the line is drawn at `instant`, at which it has no event.
    fileprivate func passes(_ instant: StreamInstant.Stride) -> Bool {
      isStream && start <= instant && (ending.map { instant < $0 } ?? true)
    }
  }

  private let lanes: [Lane]

  init(_ lanes: [Lane]) { self.lanes = lanes }

  /// The maximum number of instants to draw; only a part of a longer recording is drawn.
  private static let most = 100

  /// The maximum number of frames to draw, as in a diagram; longer recordings are drawn by instant.
  private static let mostFrames: Int64 = 80

  /// The drawing by frame, as in a diagram: a column for each frame, and no line of times. Narrow cells are padded with
  /// spaces, which have no meaning in a diagram. `nil` if the drawing would be too long, or if an event is between
  /// frames.
  ///
  /// - Parameter mark: the instant to mark with `^`.
  func draw(frame: StreamInstant.Stride, mark: StreamInstant.Stride?) -> String? {
    let instants = lanes.flatMap { $0.events.map(\.time) } + (mark.map { [$0] } ?? [])
    guard
      instants.allSatisfy({
        (0...Self.mostFrames * frame.nanoseconds) ~= $0.nanoseconds && $0.nanoseconds % frame.nanoseconds == 0
      })
    else { return nil }
    let count = Int((instants.map(\.nanoseconds).max() ?? 0) / frame.nanoseconds) + 1
    let cells = lanes.map { lane in
      var tokens = Array(repeating: [String](), count: count)
      for event in lane.events { tokens[Int(event.time.nanoseconds / frame.nanoseconds)].append(event.token) }
      return tokens.indices.map { index in
        guard tokens[index].isEmpty else { return Self.cell(tokens[index]) }
        return lane.passes(.init(nanoseconds: Int64(index) * frame.nanoseconds)) ? "-" : " "
      }
    }
    let widths = (0..<count).map { frame in cells.map { $0[frame].columns }.max()! }
    let titleWidth = (lanes.map(\.title.columns) + [0]).max()! + 2
    var lines = zip(lanes, cells).map { lane, row in
      lane.title.padded(to: titleWidth) + zip(row, widths).map { $0.padded(to: $1) }.joined()
    }
    if let mark {
      let frames = widths.prefix(Int(mark.nanoseconds / frame.nanoseconds))
      lines.append(String(repeating: " ", count: titleWidth + frames.reduce(0, +)) + "^")
    }
    return lines.map(\.trimmed).joined(separator: "\n")
  }

  /// The drawing by instant: a line of times, then the lanes, then a `^` below the instant `mark`.
  ///
  /// If there are more than a hundred instants, only those around `mark`, or the first if there is no mark, are drawn.
  /// The last line then shows how many instants are left out.
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
      let drawn = row.indices.map { index in
        row[index].padded(to: widths[index], with: lane.passes(instants[first + index]) ? "-" : " ")
      }
      lines.append(lane.title.padded(to: titleWidth) + drawn.joined())
    }
    if let mark, let column = instants.firstIndex(of: mark).map({ $0 - first }) {
      lines.append(String(repeating: " ", count: titleWidth + widths[..<column].reduce(0, +)) + "^")
    }
    if instants.count < all.count {
      lines.append(
        "(\(instants.count) of \(all.count) instants are drawn; \(first) are before them, \(all.count - last) after them)"
      )
    }
    return lines.map { $0.trimmed }.joined(separator: "\n")
  }

  /// The events of one instant.
  private static func cell(_ tokens: [String]) -> String {
    guard tokens.count > most else { return tokens.count > 1 ? "(\(tokens.joined()))" : tokens.first ?? "" }
    return "(\(tokens.prefix(most / 5).joined())… \(tokens.count) in all …\(tokens.last!))"
  }
}
