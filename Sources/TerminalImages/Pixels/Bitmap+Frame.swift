extension Bitmap {
  /// The middle of the image in a frame: excess is cut off on both sides, and missing parts are filled with the
  /// background.
  package func framed(width frameWidth: Int, height frameHeight: Int, on background: RGB) -> Bitmap {
    var pixels = [UInt8](repeating: 255, count: frameWidth * frameHeight * 4)
    let (left, top) = ((frameWidth - width) / 2, (frameHeight - height) / 2)
    for y in 0..<frameHeight {
      for x in 0..<frameWidth {
        let target = (y * frameWidth + x) * 4
        let parts = [background.red, background.green, background.blue]
        let (column, row) = (x - left, y - top)
        guard (0..<width).contains(column), (0..<height).contains(row) else {
          for part in 0..<3 { pixels[target + part] = parts[part] }
          continue
        }
        let source = (row * width + column) * 4
        let opacity = Int(rgba[source + 3])
        for part in 0..<3 {
          pixels[target + part] = UInt8(
            (Int(rgba[source + part]) * opacity + Int(parts[part]) * (255 - opacity) + 127) / 255)
        }
      }
    }
    return Bitmap(width: frameWidth, height: frameHeight, rgba: pixels)
  }

  /// The part of an image that is as large as a box, around a point that is `x` and `y` from the image's middle. If the
  /// image isn't wider than the box, its whole width is included; the same applies to its height.
  package func part(width boxWidth: Int, height boxHeight: Int, x: Int, y: Int) -> Bitmap {
    let (newWidth, newHeight) = (min(boxWidth, width), min(boxHeight, height))
    let left = min(max((width - newWidth) / 2 + x, 0), width - newWidth)
    let top = min(max((height - newHeight) / 2 + y, 0), height - newHeight)
    var pixels: [UInt8] = []
    pixels.reserveCapacity(newWidth * newHeight * 4)
    for row in top..<top + newHeight {
      let start = (row * width + left) * 4
      pixels += rgba[start..<start + newWidth * 4]
    }
    return Bitmap(width: newWidth, height: newHeight, rgba: pixels)
  }

  /// The index of a color for each pixel, dithered.
  ///
  /// - Precondition: no pixel is transparent, and there are 1 to 256 colors.
  package func indexed(in colors: [RGB]) -> [UInt8] {
    precondition((1...256).contains(colors.count), "Bitmap.indexed(in:): \(colors.count) colors; use 1 to 256")
    var palette = Palette(colors)
    return palette.dithered(self).map { UInt8(clamping: $0) }
  }
}
