/// The number of colors that a terminal shows.
package enum ColorDepth: Int, Hashable, Sendable, Comparable {
  /// None, possibly because the user has turned colors off (no-color.org).
  case none = 0
  /// The terminal's own 16 colors.
  case sixteen
  /// xterm's 256 colors.
  case palette
  /// 24 bits.
  case full

  package static func < (one: ColorDepth, other: ColorDepth) -> Bool { one.rawValue < other.rawValue }
}

/// The color of text.
package enum Color: Hashable, Sendable {
  /// The terminal's own color.
  case standard
  /// One of the eight named colors of terminals.
  case named(Int)
  case rgb(RGB)

  package static let red = Color.named(1)
  package static let green = Color.named(2)
  package static let yellow = Color.named(3)
  package static let cyan = Color.named(6)
}

/// The style of a character.
package struct Ink: Hashable, Sendable {
  package var foreground = Color.standard
  package var background = Color.standard
  package var isBold = false
  package var isDim = false
  package var isReversed = false

  package init(
    _ foreground: Color = .standard, on background: Color = .standard, bold: Bool = false, dim: Bool = false,
    reversed: Bool = false
  ) {
    self.foreground = foreground
    self.background = background
    (isBold, isDim, isReversed) = (bold, dim, reversed)
  }

  package static let plain = Ink()
  package static let bold = Ink(bold: true)
  package static let dim = Ink(dim: true)

  /// The sequence that sets this style, whatever the previous style was (ECMA-48, 8.3.117). Without colors, bold, dim
  /// and reversed remain.
  package func sequence(_ depth: ColorDepth) -> String {
    var codes = "0"
    if isBold { codes += ";1" }
    if isDim { codes += ";2" }
    if isReversed { codes += ";7" }
    codes += Self.code(foreground, depth, 30) + Self.code(background, depth, 40)
    return "\u{1B}[\(codes)m"
  }

  private static func code(_ color: Color, _ depth: ColorDepth, _ base: Int) -> String {
    guard depth > .none else { return "" }
    switch color {
    case .standard: return ""
    case .named(let number): return ";\(base + number)"
    case .rgb(let rgb):
      switch depth {
      case .none: return ""
      case .sixteen: return ";\(base + rgb.named)"
      case .palette: return ";\(base + 8);5;\(rgb.paletteIndex)"
      case .full: return ";\(base + 8);2;\(rgb.red);\(rgb.green);\(rgb.blue)"
      }
    }
  }
}

extension RGB {
  /// The nearest of xterm's 256 colors, without the first 16, which users can redefine: a cube of 6 × 6 × 6, and 24
  /// grays.
  package var paletteIndex: Int {
    func step(_ part: UInt8) -> Int { part < 48 ? 0 : part < 115 ? 1 : (Int(part) - 35) / 40 }
    func value(_ step: Int) -> UInt8 { step == 0 ? 0 : UInt8(55 + step * 40) }
    let (r, g, b) = (step(red), step(green), step(blue))
    let inCube = RGB(value(r), value(g), value(b))
    let mean = (Int(red) + Int(green) + Int(blue)) / 3
    let gray = min(max((mean - 3) / 10, 0), 23)
    let shade = UInt8(8 + gray * 10)
    return distance(to: RGB(shade, shade, shade)) < distance(to: inCube) ? 232 + gray : 16 + 36 * r + 6 * g + b
  }

  /// The nearest of the eight named colors.
  var named: Int { (red >= 128 ? 1 : 0) + (green >= 128 ? 2 : 0) + (blue >= 128 ? 4 : 0) }
}
