import FeedStream
import Foundation
import ImageFeed
import TerminalImages

/// One image for an e-paper display, in the display's size and its few colors.
struct FrameImage: Equatable {
  /// The maximum number of pixels per side.
  static let longest = 4096

  let width: Int
  let height: Int
  let palette: [RGB]

  /// The reason why the frame can't be made.
  struct Problem: Error { let reason: String }

  /// - Parameters:
  ///   - palette: one of ``palettes``, or 2 to 256 colors as `rrggbb`, with commas between them.
  init(width: String?, height: String?, palette: String?) throws(Problem) {
    guard let width = Int(width ?? "800"), let height = Int(height ?? "480"), (1...Self.longest).contains(width),
      (1...Self.longest).contains(height)
    else { throw Problem(reason: "w and h must be from 1 to \(Self.longest) pixels.") }
    (self.width, self.height) = (width, height)
    let name = palette ?? "gray4"
    let colors = Self.palettes[name] ?? name.split(separator: ",").map { Self.color($0) }
    let known = colors.compactMap { $0 }
    guard known.count == colors.count, (2...256).contains(known.count) else {
      let names = Self.palettes.keys.sorted().joined(separator: ", ")
      throw Problem(reason: "palette must be one of \(names), or 2 to 256 colors such as 000000,ffffff,ff0000.")
    }
    self.palette = known
  }

  static let palettes: [String: [RGB?]] = [
    "bw": grays(2), "gray4": grays(4), "gray16": grays(16),
    "bwr": [RGB(0, 0, 0), RGB(255, 255, 255), RGB(255, 0, 0)],
    "bwry": [RGB(0, 0, 0), RGB(255, 255, 255), RGB(255, 0, 0), RGB(255, 255, 0)],
    // The colors of seven-color displays.
    "color7": [
      RGB(0, 0, 0), RGB(255, 255, 255), RGB(0, 255, 0), RGB(0, 0, 255), RGB(255, 0, 0), RGB(255, 255, 0),
      RGB(255, 128, 0),
    ],
  ]

  private static func grays(_ count: Int) -> [RGB?] {
    (0..<count).map { step in
      let level = UInt8(step * 255 / (count - 1))
      return RGB(level, level, level)
    }
  }

  private static func color(_ text: Substring) -> RGB? {
    guard text.utf8.count == 6, let value = UInt32(text, radix: 16) else { return nil }
    return RGB(UInt8(value >> 16), UInt8(value >> 8 & 255), UInt8(value & 255))
  }

  /// The name of this frame of an image; every frame has a different name.
  func tag(of key: String) -> String {
    let colors = palette.map { "\($0.red),\($0.green),\($0.blue)" }.joined(separator: " ")
    return BodyDigest("\(key) \(width)x\(height) \(colors)".utf8).text
  }

  /// The size in which an image is decoded: it fills the frame if at most a tenth of the image is cut off, and
  /// otherwise fits within it.
  ///
  /// The decoder fits an image into a box and never enlarges it, so this box may be larger than the frame.
  func box(for size: DecodedImage.Size?) -> DecodedImage.Size {
    guard let size, size.width > 0, size.height > 0 else { return DecodedImage.Size(width: width, height: height) }
    let scales = (Double(width) / Double(size.width), Double(height) / Double(size.height))
    let (least, most) = (min(scales.0, scales.1), max(scales.0, scales.1))
    let scale = 1 - least / most <= LayoutRatio.mostCropped ? most : least
    return DecodedImage.Size(
      width: max(1, Int((Double(size.width) * scale).rounded())),
      height: max(1, Int((Double(size.height) * scale).rounded())))
  }

  /// The frame as a PNG, on white. This takes tens of milliseconds, so call it off the loop.
  func png(of image: DecodedImage) -> [UInt8] {
    let bitmap = Bitmap(width: image.size.width, height: image.size.height, rgba: Array(image.bytes))
    let whole = bitmap.framed(width: width, height: height, on: RGB(255, 255, 255))
    return IndexedPNG.encode(whole.indexed(in: palette), width: width, height: height, palette: palette)
  }
}
