/// A few colors that represent all colors of an image. They are found by dividing the colors where they differ most
/// until there are enough groups (median cut; the variance determines which group is divided next).
struct Palette {
  let colors: [RGB]
  /// The index of the nearest color for each of 32,768 colors, found on demand; -1 until then.
  private var nearest = [Int16](repeating: -1, count: 32_768)

  init(_ colors: [RGB]) { self.colors = colors }

  /// - Parameter count: the maximum number of colors: 2 to 256.
  init(of bitmap: Bitmap, count: Int) {
    self.init(Self.cut(Self.histogram(of: bitmap), into: min(max(count, 2), 256)))
  }

  /// The index of the color that is nearest to `color`, where only the five leading bits of each component count.
  mutating func index(of color: RGB) -> Int {
    let key = Int(color.red >> 3) << 10 | Int(color.green >> 3) << 5 | Int(color.blue >> 3)
    if nearest[key] >= 0 { return Int(nearest[key]) }
    let middle = RGB(color.red & 0xF8 | 4, color.green & 0xF8 | 4, color.blue & 0xF8 | 4)
    var (best, least) = (0, Int.max)
    for (index, one) in colors.enumerated() {
      let distance = one.distance(to: middle)
      if distance < least { (best, least) = (index, distance) }
    }
    nearest[key] = Int16(best)
    return best
  }

  // MARK: - Finding them

  /// The number of pixels of one 15-bit color, and the sums of their colors.
  private struct Bucket {
    var count = 0
    var sum = SIMD3<Int>.zero
    var mean: SIMD3<Int> { sum / count }
  }

  private static func histogram(of bitmap: Bitmap) -> [Bucket] {
    var buckets = [Bucket](repeating: Bucket(), count: 32_768)
    let bytes = bitmap.rgba
    for place in stride(from: 0, to: bytes.count, by: 4) where bytes[place + 3] >= 128 {
      let (r, g, b) = (Int(bytes[place]), Int(bytes[place + 1]), Int(bytes[place + 2]))
      let key = (r >> 3) << 10 | (g >> 3) << 5 | (b >> 3)
      buckets[key].count += 1
      buckets[key].sum &+= SIMD3(r, g, b)
    }
    return buckets.filter { $0.count > 0 }
  }

  /// Buckets that become one color.
  private struct Group {
    var buckets: ArraySlice<Bucket>
    var mean: RGB
    /// The component in which the colors differ most, and their total difference.
    var axis = 0
    var spread = 0.0

    init(_ buckets: ArraySlice<Bucket>) {
      self.buckets = buckets
      let count = buckets.reduce(0) { $0 + $1.count }
      let sum = buckets.reduce(into: SIMD3<Int>.zero) { $0 &+= $1.sum }
      let middle = SIMD3<Double>(sum) / Double(max(count, 1))
      mean = RGB(UInt8(middle.x.rounded()), UInt8(middle.y.rounded()), UInt8(middle.z.rounded()))
      guard buckets.count > 1 else { return }
      var squares = SIMD3<Double>.zero
      for bucket in buckets {
        let away = SIMD3<Double>(bucket.mean) - middle
        squares += away * away * Double(bucket.count)
      }
      axis = squares.x >= squares.y && squares.x >= squares.z ? 0 : squares.y >= squares.z ? 1 : 2
      spread = squares.sum()
    }

    func cut() -> (Group, Group) {
      let sorted = buckets.sorted { $0.mean[axis] < $1.mean[axis] }
      let half = sorted.reduce(0) { $0 + $1.count } / 2
      var (before, end) = (0, 1)
      for (index, bucket) in sorted.enumerated().dropLast() {
        before += bucket.count
        end = index + 1
        if before >= half { break }
      }
      return (Group(sorted[..<end]), Group(sorted[end...]))
    }
  }

  private static func cut(_ buckets: [Bucket], into count: Int) -> [RGB] {
    guard !buckets.isEmpty else { return [RGB(0, 0, 0)] }
    var groups = [Group(buckets[...])]
    while groups.count < count {
      guard let widest = groups.indices.max(by: { groups[$0].spread < groups[$1].spread }), groups[widest].spread > 0
      else { break }
      let (one, other) = groups[widest].cut()
      groups[widest] = one
      groups.append(other)
    }
    return groups.map(\.mean)
  }
}

extension Palette {
  /// The index of a color for each pixel, with each pixel's error passed on to its neighbors (Floyd and Steinberg), so
  /// that areas keep their brightness; -1 for transparent pixels.
  mutating func dithered(_ bitmap: Bitmap) -> [Int16] {
    let (width, height) = (bitmap.width, bitmap.height)
    var result = [Int16](repeating: -1, count: width * height)
    var here = [SIMD3<Int>](repeating: .zero, count: width + 2)
    var below = here
    for y in 0..<height {
      // Alternate the direction of the rows, so that the errors form no stripes.
      let isForward = y % 2 == 0
      for step in 0..<width {
        let x = isForward ? step : width - 1 - step
        guard bitmap.isSolid(x, y) else { continue }
        let color = bitmap.color(x, y)
        let wanted = SIMD3(Int(color.red), Int(color.green), Int(color.blue)) &+ here[x + 1] / 16
        let shown = wanted.clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
        let index = index(of: RGB(UInt8(shown.x), UInt8(shown.y), UInt8(shown.z)))
        result[y * width + x] = Int16(index)
        let chosen = colors[index]
        let error = shown &- SIMD3(Int(chosen.red), Int(chosen.green), Int(chosen.blue))
        let ahead = isForward ? 1 : -1
        here[x + 1 + ahead] &+= error &* 7
        below[x + 1 - ahead] &+= error &* 3
        below[x + 1] &+= error &* 5
        below[x + 1 + ahead] &+= error
      }
      swap(&here, &below)
      for index in below.indices { below[index] = .zero }
    }
    return result
  }
}
