/// The pixels of an image, row by row: four bytes each, red, green, blue and alpha, not premultiplied.
package struct Bitmap: Hashable, Sendable {
  package let width: Int
  package let height: Int
  package let rgba: [UInt8]

  /// - Precondition: the number of bytes matches the size, and there is at least one pixel.
  package init(width: Int, height: Int, rgba: [UInt8]) {
    precondition(width > 0 && height > 0, "Bitmap: \(width) × \(height) is not an image; use at least one pixel")
    precondition(rgba.count == width * height * 4, "Bitmap: rgba has \(rgba.count) bytes; use width * height * 4")
    self.width = width
    self.height = height
    self.rgba = rgba
  }

  /// True if no pixel is transparent.
  package var isOpaque: Bool { stride(from: 3, to: rgba.count, by: 4).allSatisfy { rgba[$0] == 255 } }

  /// The color at a position, without its alpha.
  package func color(_ x: Int, _ y: Int) -> RGB {
    let place = (y * width + x) * 4
    return RGB(rgba[place], rgba[place + 1], rgba[place + 2])
  }

  /// The image over a background: partly transparent pixels are blended with the background. Fully transparent pixels
  /// stay empty.
  package func blended(over background: RGB) -> Bitmap {
    if isOpaque { return self }
    var pixels = rgba
    for place in stride(from: 0, to: pixels.count, by: 4) {
      let opacity = Int(pixels[place + 3])
      guard opacity > 0 else { continue }
      for (part, behind) in [background.red, background.green, background.blue].enumerated() {
        pixels[place + part] = UInt8((Int(pixels[place + part]) * opacity + Int(behind) * (255 - opacity) + 127) / 255)
      }
      pixels[place + 3] = 255
    }
    return Bitmap(width: width, height: height, rgba: pixels)
  }

  /// True where the image hides more than half of its background.
  package func isSolid(_ x: Int, _ y: Int) -> Bool { rgba[(y * width + x) * 4 + 3] >= 128 }
}

/// A 24-bit color.
package struct RGB: Hashable, Sendable {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8

  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  /// The brightness, 0 to 255 (the weights of ITU-R BT.601).
  package var brightness: Int { (299 * Int(red) + 587 * Int(green) + 114 * Int(blue)) / 1000 }

  func distance(to other: RGB) -> Int {
    let (r, g, b) = (
      Int(red) - Int(other.red), Int(green) - Int(other.green), Int(blue) - Int(other.blue)
    )
    return r * r + g * g + b * b
  }
}

extension Bitmap {
  /// The image with a different number of pixels, each of which is the mean of the area that it represents.
  package func scaled(toWidth newWidth: Int, height newHeight: Int) -> Bitmap {
    if newWidth == width, newHeight == height { return self }
    let across = Self.shares(of: width, among: newWidth)
    let down = Self.shares(of: height, among: newHeight)
    // Multiply by opacity, so that transparent pixels don't affect the colors.
    var rows = [Float](repeating: 0, count: newWidth * height * 4)
    for y in 0..<height {
      for x in 0..<newWidth {
        var sum = SIMD4<Float>.zero
        for (offset, weight) in across[x].weights.enumerated() {
          let place = (y * width + across[x].start + offset) * 4
          let opacity = Float(rgba[place + 3])
          sum +=
            SIMD4(Float(rgba[place]), Float(rgba[place + 1]), Float(rgba[place + 2]), 255) * (opacity * weight / 255)
        }
        let target = (y * newWidth + x) * 4
        for part in 0..<4 { rows[target + part] = sum[part] }
      }
    }
    var result = [UInt8](repeating: 0, count: newWidth * newHeight * 4)
    for y in 0..<newHeight {
      for x in 0..<newWidth {
        var sum = SIMD4<Float>.zero
        for (offset, weight) in down[y].weights.enumerated() {
          let place = ((down[y].start + offset) * newWidth + x) * 4
          sum += SIMD4(rows[place], rows[place + 1], rows[place + 2], rows[place + 3]) * weight
        }
        let target = (y * newWidth + x) * 4
        let opacity = sum[3]
        guard opacity >= 0.5 else { continue }
        for part in 0..<3 { result[target + part] = UInt8(min(max(sum[part] * 255 / opacity, 0), 255).rounded()) }
        result[target + 3] = UInt8(min(opacity, 255).rounded())
      }
    }
    return Bitmap(width: newWidth, height: newHeight, rgba: result)
  }

  /// For each of the `new` positions, the `old` positions that it covers and the weight of each. The weights for one
  /// new position add up to one.
  private static func shares(of old: Int, among new: Int) -> [(start: Int, weights: [Float])] {
    let step = Float(old) / Float(new)
    return (0..<new).map { place in
      let (from, to) = (Float(place) * step, min(Float(place + 1) * step, Float(old)))
      let start = min(Int(from), old - 1)
      let end = max(min(Int(to.rounded(.up)), old), start + 1)
      let weights = (start..<end).map { max(0, min(to, Float($0 + 1)) - max(from, Float($0))) }
      let sum = weights.reduce(0, +)
      return (start, sum > 0 ? weights.map { $0 / sum } : [1] + Array(repeating: 0, count: weights.count - 1))
    }
  }
}
