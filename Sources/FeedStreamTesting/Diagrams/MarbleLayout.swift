import FeedStream

/// Positions the instants of a diagram from left to right, so that marks don't overlap and distances show time.
struct MarbleLayout {
  typealias Kind = MarbleDiagram.Mark.Kind

  /// The minimum width of the shortest wait.
  static let step = 42.0
  /// The maximum length of a wait, as a multiple of the shortest.
  static let longest = 5.0
  static let marble = 30.0
  private static let gap = 8.0

  /// The instants of all events, in order.
  let instants: [StreamInstant.Stride]
  /// The position of each instant, from the beginning of the lanes.
  private(set) var positions: [Double] = []
  /// The positions of the gaps in shortened waits.
  private(set) var breaks: [Double] = []
  /// The length of the lanes.
  private(set) var width = 0.0

  /// - Parameter least: the minimum length of the lanes; waits are stretched to reach it.
  init(lanes: [MarbleDiagram.Lane], showsTimes: Bool, least: Double) {
    instants = Set(lanes.flatMap { $0.marks.map(\.time) } + [0]).sorted()
    let extents = instants.map { instant in
      var left = 0.0
      var right = 0.0
      if showsTimes {
        left = MarbleLayout.textWidth(instant.nanoseconds.asTime, size: 11) / 2
        right = left
      }
      for lane in lanes {
        let kinds = lane.marks.filter { $0.time == instant }.map(\.kind)
        guard let first = kinds.first else { continue }
        let offsets = MarbleLayout.offsets(kinds)
        left = max(left, MarbleLayout.width(first) / 2)
        right = max(right, offsets.last! + MarbleLayout.width(kinds.last!) / 2)
      }
      return (left: left, right: right)
    }
    let waits = Swift.zip(instants, instants.dropFirst()).map { ($1 - $0).seconds }
    let shortest = waits.min() ?? 1
    let lengths = waits.enumerated().map { index, wait in
      let room = extents[index].right + extents[index + 1].left + MarbleLayout.gap
      return max(min(wait / shortest, MarbleLayout.longest) * MarbleLayout.step, room)
    }
    let margins = (left: 12 + extents[0].left, right: extents.last!.right + 26)
    let sum = lengths.reduce(0, +)
    let stretch = max(1, (least - margins.left - margins.right) / max(sum, 1))
    var x = margins.left
    positions = [x]
    for (index, wait) in waits.enumerated() {
      let length = wait / shortest
      let next = x + lengths[index] * stretch
      if length > MarbleLayout.longest {
        breaks.append((x + extents[index].right + next - extents[index + 1].left) / 2)
      }
      x = next
      positions.append(x)
    }
    width = max(x + margins.right, least)
  }

  func position(of instant: StreamInstant.Stride) -> Double {
    positions[instants.firstIndex(of: instant)!]
  }

  /// The offsets of marks that share an instant: the first mark is at the instant's position, and the others follow
  /// side by side.
  static func offsets(_ kinds: [Kind]) -> [Double] {
    var offsets = [0.0]
    for (left, right) in Swift.zip(kinds, kinds.dropFirst()) {
      offsets.append(offsets.last! + (width(left) + width(right)) / 2 + 3)
    }
    return offsets
  }

  static func width(_ kind: Kind) -> Double {
    switch kind {
    case .value(let label): max(marble, textWidth(label, size: 14) + 16)
    case .finished: 8
    case .failed(let label): max(18, textWidth(label, size: 11))
    case .requested(let label): max(16, textWidth("+\(label)", size: 12))
    }
  }

  /// The estimated width of `text`: in a monospaced font, a character is about 0.6 times as wide as the font size.
  static func textWidth(_ text: String, size: Double) -> Double { Double(text.onOneLine.columns) * size * 0.6 }
}
