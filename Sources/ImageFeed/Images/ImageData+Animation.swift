import Foundation

extension ImageData {
  /// True for a GIF with several frames, and for WebP, PNG and AVIF files that declare an animation.
  public var isAnimated: Bool {
    switch kind {
    case .gif: bytes.withUnsafeBytes { Self.followGIF($0, upTo: 2).frames == 2 }
    // The flags of the extended header (the WebP container's specification, "Extended File Format").
    case .webp:
      bytes.count > 20 && bytes.dropFirst(12).starts(with: Array("VP8X".utf8)) && bytes[bytes.startIndex + 20] & 2 != 0
    // The `acTL` chunk comes before the first data chunk.
    case .png: bytes.withUnsafeBytes { Self.findChunk(in: $0) { $0 == "acTL" || $0 == "IDAT" } == .found("acTL") }
    // Browsers play an image sequence (AVIF, section 3) if it is the file's major brand.
    case .avif: bytes.dropFirst(8).starts(with: Array("avis".utf8))
    default: false
    }
  }

  /// Follows the blocks of a GIF (GIF89a, section 12 and appendix A), up to a number of frames.
  ///
  /// - Returns: the number of frames that have begun, and the last block's first byte; `nil` if the bytes end before the
  ///   GIF does.
  static func followGIF(_ bytes: UnsafeRawBufferPointer, upTo most: Int = .max) -> (frames: Int, last: UInt8?) {
    func byte(_ place: Int) -> Int { place < bytes.count ? Int(bytes[place]) : -1 }
    func colors(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
    var place = 13 + colors(byte(10))
    var frames = 0
    while true {
      switch byte(place) {
      case 0x2C:
        frames += 1
        if frames == most { return (frames, 0x2C) }
        place += 11 + colors(byte(place + 9))
      case 0x21: place += 2
      case let other: return (frames, other < 0 ? nil : UInt8(other))
      }
      while byte(place) > 0 {
        // Some GIFs omit the empty sub-block before their end.
        if place == bytes.count - 1, byte(place) == 0x3B { return (frames, 0x3B) }
        place += byte(place) + 1
      }
      place += 1
    }
  }
}
