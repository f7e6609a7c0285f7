import TerminalImages

extension Bitmap {
  /// An image whose pixels are computed from their position; `nil` is transparent.
  static func of(_ width: Int, _ height: Int, _ color: (Int, Int) -> RGB?) -> Bitmap {
    var bytes: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        guard let color = color(x, y) else {
          bytes += [0, 0, 0, 0]
          continue
        }
        bytes += [color.red, color.green, color.blue, 255]
      }
    }
    return Bitmap(width: width, height: height, rgba: bytes)
  }

  static func filled(_ width: Int, _ height: Int, _ color: RGB) -> Bitmap { of(width, height) { _, _ in color } }

  /// Colors that change slowly, as a photograph's do.
  static func slope(_ width: Int, _ height: Int) -> Bitmap {
    of(width, height) { x, y in RGB(UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8((x + y) % 256)) }
  }
}

extension RGB {
  static let black = RGB(0, 0, 0)
  static let white = RGB(255, 255, 255)
  static let fullRed = RGB(255, 0, 0)
  static let fullBlue = RGB(0, 0, 255)
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
