import Foundation

/// The proportions of tiles, in steps. The style sheet has a rule per step, because the page's policy forbids inline
/// styles.
enum LayoutRatio {
  /// The ratio of the narrowest tile, the number of steps, and the factor between steps. A tile's ratio differs
  /// from its image's by at most half a step, so at most 4.5% of the image is cut off.
  static let least = 0.5
  static let count = 22
  static let growth = 1.09
  /// The maximum share of an image that may be cut off.
  static let mostCropped = 0.1
  /// The class for an image whose size isn't known yet.
  static let unknown = "unknown"

  static func ratio(_ step: Int) -> Double { least * pow(growth, Double(step)) }

  /// The usual maximum height of a tile, in CSS pixels.
  private static let tallest = 288.0
  /// The maximum enlargement of a small image.
  static let enlargement = 2.0

  /// The classes of a tile for an image of this size: its step, and also `whole` if the image is much narrower or wider
  /// than any tile, and `whole small` if the image may be too small to fill the tile.
  static func classes(width: Int, height: Int) -> String {
    guard width > 0, height > 0 else { return unknown }
    let ratio = Double(width) / Double(height)
    let step = min(max(Int((log(ratio / least) / log(growth)).rounded()), 0), count - 1)
    let tile = Self.ratio(step)
    let isCropped = 1 - min(ratio, tile) / max(ratio, tile) > mostCropped
    let isSmall = isSmall(width: width, height: height)
    return "r\(step)" + (isCropped || isSmall ? " whole" : "") + (isSmall ? " small" : "")
  }

  /// True if an image would have to be enlarged too much to fill a tall tile.
  static func isSmall(width: Int, height: Int) -> Bool {
    let widest = tallest * ratio(count - 1)
    return Double(height) * enlargement < tallest && Double(width) * enlargement < widest
  }

  /// A rule for each step: the ratio, and the height in a two-column layout, in hundredths of the window's width.
  static var style: String {
    (0..<count).map { step in
      let ratio = ratio(step)
      return String(format: "#gallery>.r%d{--r:%.3f;--s:%d}", step, ratio, Int((46 / ratio).rounded()) + 2)
    }
    .joined(separator: "\n") + "\n"
  }
}
