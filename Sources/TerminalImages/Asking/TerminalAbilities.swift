/// The abilities of a terminal.
package struct TerminalAbilities: Hashable, Sendable {
  /// True if the terminal has replied.
  package var hasAnswered = false
  package var kitty = false
  package var sixel = false
  /// The number of colors that sixels may have; `nil` if the terminal doesn't report it.
  package var sixelColors: Int?
  package var cell: CellSize?
  package var background: RGB?
  package var depth: ColorDepth

  /// The abilities that are known from the environment, before the terminal is queried.
  package init(environment: [String: String]) {
    depth = Self.depth(environment["TERM"] ?? "", environment["COLORTERM"] ?? "")
    if environment["NO_COLOR", default: ""] != "" { depth = .none }
  }

  private static func depth(_ name: String, _ colors: String) -> ColorDepth {
    if name == "dumb" || name.isEmpty { return .none }
    if colors == "truecolor" || colors == "24bit" || name.hasSuffix("-direct") { return .full }
    return ["linux", "vt100", "ansi"].contains(name) && colors.isEmpty ? .sixteen : .palette
  }

  package mutating func take(_ answer: TerminalAnswer) {
    switch answer {
    case .attributes(let numbers):
      hasAnswered = true
      sixel = numbers.contains(4)
    case .kitty(let isKnown): kitty = isKnown
    case .cell(let size): cell = size
    case .sixelColors(let count): sixelColors = count
    case .background(let color): background = color
    case .fullColor(let isFull): if isFull, depth > .none { depth = .full }
    }
  }

  /// The best way to show images; dots if there are no colors. A graphics mode doesn't color text, so it is used even
  /// with `NO_COLOR`.
  package var mode: ImageMode {
    if kitty { return .kitty }
    if sixel { return .sixel(colors: min(sixelColors ?? 256, 256), on: background ?? RGB(0, 0, 0)) }
    return depth == .none ? .dots(onLight: isLight) : .blocks(depth)
  }

  package var isLight: Bool { (background?.brightness ?? 0) >= 128 }
}
