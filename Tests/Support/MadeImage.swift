import Foundation

/// Images made byte by byte from their formats' specifications: small and huge, valid and invalid.
package enum MadeImage {
  // MARK: PNG (ISO/IEC 15948)

  /// The kind of a PNG's pixels.
  package enum Pixels: UInt8 {
    case gray = 0
    case rgb = 2
    case rgba = 6

    var channels: Int { self == .gray ? 1 : self == .rgb ? 3 : 4 }
  }

  /// A PNG whose pixels change across and down, stored without being compressed.
  package static func png(
    width: Int, height: Int, _ pixels: Pixels = .rgb, depth: Int = 8, extra: [UInt8] = []
  ) -> [UInt8] {
    var rows: [UInt8] = []
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width {
        for channel in 0..<pixels.channels {
          let value = [x * 255 / width, y * 255 / height, (x ^ y) & 255, 255 - x * 128 / width][channel]
          rows.append(UInt8(value))
          if depth == 16 { rows.append(0x80) }
        }
      }
    }
    return png(width: width, height: height, pixels, depth: depth, extra: extra, data: stored(rows))
  }

  /// A PNG whose pixels are all zero, compressed as much as possible.
  package static func zeros(
    width: Int, height: Int, _ pixels: Pixels = .rgb, interlaced: Bool = false, extra: [UInt8] = []
  ) -> [UInt8] {
    // An interlaced image has seven passes, each with its own rows; surplus zeros do no harm.
    let count = (width * pixels.channels + 1) * height * (interlaced ? 2 : 1)
    return png(width: width, height: height, pixels, interlaced: interlaced, extra: extra, data: compressedZeros(count))
  }

  package static func png(
    width: Int, height: Int, _ pixels: Pixels = .rgb, depth: Int = 8, interlaced: Bool = false, extra: [UInt8] = [],
    data: [UInt8]
  ) -> [UInt8] {
    let header = big(width) + big(height) + [UInt8(depth), pixels.rawValue, 0, 0, interlaced ? 1 : 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + extra + chunk("IDAT", data)
      + chunk("IEND", [])
  }

  /// A chunk of a PNG.
  package static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + data
    return big(data.count) + body + big(Int(crc(body)))
  }

  /// A PNG with a color profile.
  package static func png(width: Int, height: Int, profile: [UInt8]) -> [UInt8] {
    png(width: width, height: height, extra: chunk("iCCP", Array("Made".utf8) + [0, 0] + stored(profile)))
  }

  /// A chunk of text that is `count` zeros when it is decompressed.
  package static func textBomb(_ count: Int) -> [UInt8] {
    chunk("zTXt", Array("Comment".utf8) + [0, 0] + compressedZeros(count))
  }

  // MARK: Compressing (RFC 1950, 1951)

  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    for start in stride(from: 0, to: bytes.count, by: 65_535) {
      let end = min(start + 65_535, bytes.count)
      let length = end - start
      result += [end == bytes.count ? 1 : 0]
      for value in [length, ~length] {
        result += [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
      }
      result += bytes[start..<end]
    }
    return result + big(adler(bytes))
  }

  /// `count` zeros: a literal, and then repeated copies of 258 bytes, in 13 bits each.
  private static func compressedZeros(_ count: Int) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var (bits, length) = (0, 0)
    func put(_ value: Int, _ width: Int) {
      bits |= value << length
      length += width
      while length >= 8 {
        result.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        length -= 8
      }
    }
    put(0b011, 3)  // the last block, of fixed codes
    put(0b0000_1100, 8)  // the literal 0
    var left = count - 1
    while left >= 258 {
      put(0b1010_0011, 8)  // a length of 258
      put(0, 5)  // from one byte before
      left -= 258
    }
    for _ in 0..<left { put(0b0000_1100, 8) }
    put(0, 7)
    put(0, 7)
    // The Adler-32 checksum of zeros: 1, and their number.
    return result + big((count % 65_521) << 16 | 1)
  }

  private static func adler(_ bytes: [UInt8]) -> Int {
    var (a, b) = (1, 0)
    bytes.withUnsafeBufferPointer { bytes in
      for byte in bytes {
        a = (a + Int(byte)) % 65_521
        b = (b + a) % 65_521
      }
    }
    return b << 16 | a
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      bytes.withUnsafeBufferPointer { bytes in
        var value = ~UInt32(0)
        for byte in bytes { value = table[Int((value ^ UInt32(byte)) & 255)] ^ (value >> 8) }
        return ~value
      }
    }
  }

  private static func big(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }

  // MARK: JPEG (ITU T.81)

  /// A JPEG of 16 by 8 pixels: its left half is red, and its right half blue.
  package static let jpeg = decoded(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j"
      + "q62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk"
      + "pKSkpKSkpKT/wAARCAAIABADAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAABP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/xAAV"
      + "AQEBAAAAAAAAAAAAAAAAAAAGBP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AAIyQEwFX//Z")

  /// A red JPEG of 8 by 8 pixels in CMYK.
  package static let inkedJPEG = decoded(
    "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAbEhQXFBEbFxYXHhwbIChCKyglJShROj0wQmBVZWRfVV1baniZgWpxkHNbXYW1hpCeo6ut"
      + "q2eAvMm6pseZqKuk/8AAFAgACAAIBEMRAE0RAFkRAEsRAP/EABQAAQAAAAAAAAAAAAAAAAAAAAb/xAAUEAEAAAAAAAAAAAAAAAAA"
      + "AAAA/9oADgRDAE0AWQBLAAA/AEwyMkz/2Q==")

  /// The JPEG with one of the eight EXIF orientations.
  package static func jpeg(orientation: Int) -> [UInt8] {
    let exif = Array("Exif\0\0".utf8) + exif(orientation: orientation)
    return Array(jpeg.prefix(2)) + [0xFF, 0xE1] + big(exif.count + 2, 2) + exif + Array(jpeg.dropFirst(2))
  }

  /// EXIF data with one entry.
  package static func exif(orientation: Int) -> [UInt8] {
    Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0]
  }

  /// A progressive JPEG of one channel whose scans contain no data, but make the decoder visit all pixels.
  package static func scans(_ count: Int, width: Int, height: Int) -> [UInt8] {
    let tables: [UInt8] = [0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    let frame: [UInt8] = [0xFF, 0xC2, 0, 11, 8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0]
    let codes: [UInt8] = [0xFF, 0xC4, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 15) + [0]
    let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0, 0]
    return [0xFF, 0xD8] + tables + frame + codes + Array([[UInt8]](repeating: scan, count: count).joined()) + [
      0xFF, 0xD9,
    ]
  }

  /// A JPEG that begins with this many bytes of application data.
  package static func jpeg(comments count: Int) -> [UInt8] {
    var comments: [UInt8] = []
    while comments.count < count {
      comments += [0xFF, 0xE2, 0xFF, 0xFF] + [UInt8](repeating: 0x41, count: 65_533)
    }
    return Array(jpeg.prefix(2)) + comments + Array(jpeg.dropFirst(2))
  }

  /// The JPEG with a color profile.
  package static func jpeg(profile: [UInt8]) -> [UInt8] {
    let body = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + profile
    return Array(jpeg.prefix(2)) + [0xFF, 0xE2] + big(body.count + 2, 2) + body + Array(jpeg.dropFirst(2))
  }

  // MARK: GIF, WebP

  /// A red GIF; further frames have another color.
  package static func gif(width: Int = 1, height: Int = 1, frames: Int = 1) -> [UInt8] {
    let size = [width & 255, width >> 8, height & 255, height >> 8].map { UInt8($0) }
    let head = Array("GIF89a".utf8) + size + [0x80, 0, 0, 0xFF, 0, 0, 0, 0, 0xFF]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
    let next: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0]
    return head + image + Array([[UInt8]](repeating: next, count: frames - 1).joined()) + [0x3B]
  }

  /// A WebP animation of 8 by 4 pixels: red, then green, then blue.
  package static let animatedWebP = decoded(
    "UklGRrQAAABXRUJQVlA4WAoAAAACAAAABwAAAwAAQU5JTQYAAAAAAAAAAABBTk1GKAAAAAAAAAAAAAcAAAMAAAAAAAJWUDhMDwAA"
      + "AC8HwAAABxD9j/4HIqL/AQBBTk1GKAAAAAAAAAAAAAcAAAMAAAAAAABWUDhMDwAAAC8HwAAAB9D/iP4HIqL/AQBBTk1GKAAAAAAA"
      + "AAAAAAcAAAMAAAAAAABWUDhMDwAAAC8HwAAABxDR//4HIqL/AQA=")

  /// A WebP that claims 16,383 by 16,383 pixels, and has none.
  package static let hugeWebP: [UInt8] =
    Array("RIFF".utf8) + [18, 0, 0, 0] + Array("WEBPVP8L".utf8) + [5, 0, 0, 0, 0x2F, 0xFE, 0xBF, 0xFF, 0x0F, 0]

  private static func decoded(_ text: String) -> [UInt8] {
    guard let data = Data(base64Encoded: text) else { preconditionFailure("MadeImage: this is not base 64") }
    return Array(data)
  }
}
