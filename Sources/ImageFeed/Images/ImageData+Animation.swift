import Foundation

extension ImageData {
  /// True for a GIF with several frames, and for WebP and PNG files that declare an animation.
  public var isAnimated: Bool {
    switch kind {
    case .gif: hasSeveralFrames
    // The flags of the extended header (the WebP container's specification, "Extended File Format").
    case .webp:
      bytes.count > 20 && bytes.dropFirst(12).starts(with: Array("VP8X".utf8)) && bytes[bytes.startIndex + 20] & 2 != 0
    // The `acTL` chunk comes before the first data chunk.
    case .png: bytes.prefix(512).firstRange(of: Data("acTL".utf8)) != nil
    default: false
    }
  }

  /// Follows the blocks of a GIF up to its second image (GIF89a, section 12 and appendix A).
  private var hasSeveralFrames: Bool {
    bytes.withUnsafeBytes { bytes in
      func byte(_ place: Int) -> Int { place < bytes.count ? Int(bytes[place]) : -1 }
      func colors(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
      var place = 13 + colors(byte(10))
      var frames = 0
      while true {
        switch byte(place) {
        case 0x2C:
          frames += 1
          if frames == 2 { return true }
          place += 11 + colors(byte(place + 9))
        case 0x21: place += 2
        default: return false
        }
        while byte(place) > 0 { place += byte(place) + 1 }
        place += 1
      }
    }
  }
}
