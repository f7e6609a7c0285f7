/// An image in sixels: six rows of pixels at a time, one color after another (DEC STD 070, chapter 9.8.2).
package enum Sixel {
  /// The sequence that draws the image at the cursor. Where the image is transparent, the screen is unchanged.
  ///
  /// - Parameter colors: the number of colors that the terminal supports in sixels: 2 to 256.
  package static func encode(_ bitmap: Bitmap, colors: Int) -> [UInt8] {
    var palette = Palette(of: bitmap, count: colors)
    let pixels = palette.dithered(bitmap)
    let (width, height) = (bitmap.width, bitmap.height)
    var bytes = Array("\u{1B}P0;1;0q\"1;1;\(width);\(height)".utf8)
    for (index, color) in palette.colors.enumerated() {
      func share(_ part: UInt8) -> Int { (Int(part) * 100 + 127) / 255 }
      bytes += "#\(index);2;\(share(color.red));\(share(color.green));\(share(color.blue))".utf8
    }
    var bits = [UInt8](repeating: 0, count: palette.colors.count * width)
    for top in stride(from: 0, to: height, by: 6) {
      if top > 0 { bytes.append(UInt8(ascii: "-")) }
      var used = [Bool](repeating: false, count: palette.colors.count)
      for y in top..<min(top + 6, height) {
        for x in 0..<width {
          let color = Int(pixels[y * width + x])
          guard color >= 0 else { continue }
          used[color] = true
          bits[color * width + x] |= 1 << UInt8(y - top)
        }
      }
      var isFirst = true
      for color in palette.colors.indices where used[color] {
        if !isFirst { bytes.append(UInt8(ascii: "$")) }
        isFirst = false
        bytes += "#\(color)".utf8
        let row = color * width..<(color + 1) * width
        append(bits[row], to: &bytes)
        for place in row { bits[place] = 0 }
      }
    }
    return bytes + "\u{1B}\\".utf8
  }

  /// Appends sixels: repeated sixels are written as a count, and empty sixels at the end are left out.
  private static func append(_ row: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    guard let last = row.lastIndex(where: { $0 != 0 }) else { return }
    var place = row.startIndex
    while place <= last {
      var end = place + 1
      while end <= last, row[end] == row[place] { end += 1 }
      let sixel = row[place] + 63
      if end - place > 3 {
        bytes += "!\(end - place)".utf8
        bytes.append(sixel)
      } else {
        for _ in place..<end { bytes.append(sixel) }
      }
      place = end
    }
  }
}
