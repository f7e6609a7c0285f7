import Foundation

extension ImageData {
  /// True if the format shows that the end is missing. Formats whose end can't be found without decoding count as
  /// complete, and so do images with other damage.
  var isCutOff: Bool {
    // Fewer bytes than this can't be an image. A PNG shows its end if it has its first chunk.
    guard bytes.count >= (kind == .png ? 16 : 64) else { return false }
    return bytes.withUnsafeBytes { bytes in
      switch kind {
      case .png: Self.isCutOffPNG(bytes)
      case .jpeg: Self.isCutOffJPEG(bytes)
      // Some servers add zeros or a line break.
      case .gif: bytes.last { ![0x00, 0x0A, 0x0D].contains($0) } != 0x3B
      case .webp: Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian) + 8 > bytes.count
      case .avif, .heif, .jpegXL, .bmp, .tiff, .icon: false
      }
    }
  }

  /// Chunks up to `IEND` (ISO/IEC 15948, section 5.3).
  private static func isCutOffPNG(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes[12..<16].elementsEqual("IHDR".utf8) else { return false }
    var place = 8
    while place + 12 <= bytes.count {
      let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
      if bytes[place + 4..<place + 8].elementsEqual("IEND".utf8) { return false }
      guard length <= Int(Int32.max) else { return false }
      place += 12 + length
    }
    return true
  }

  /// Segments up to the first scan, and then the end marker (ISO/IEC 10918-1, annex B). A segment may hold a
  /// small image with its own end.
  private static func isCutOffJPEG(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var place = 2
    while place + 4 <= bytes.count {
      guard bytes[place] == 0xFF else { return false }
      let mark = bytes[place + 1]
      if mark == 0xFF {
        place += 1
      } else if mark == 0xDA {
        return !holdsEnd(UnsafeRawBufferPointer(rebasing: bytes[place...]))
      } else {
        place += 2 + (Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
      }
    }
    return true
  }

  /// Searches backward, because the marker is usually at the end.
  private static func holdsEnd(_ scans: UnsafeRawBufferPointer) -> Bool {
    var index = scans.count - 1
    while index > 0 {
      if scans[index] == 0xD9, scans[index - 1] == 0xFF { return true }
      index -= 1
    }
    return false
  }
}
