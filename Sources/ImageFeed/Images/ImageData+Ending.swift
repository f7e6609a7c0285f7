import Foundation

extension ImageData {
  /// True if the format shows that the end is missing. Formats whose end can't be found without decoding count as
  /// complete, and so do images with other damage.
  var isCutOff: Bool {
    // Fewer bytes than this can't be an image. A PNG shows its end if it has its first chunk.
    guard bytes.count >= (kind == .png ? 16 : 64) else { return false }
    return bytes.withUnsafeBytes { bytes in
      switch kind {
      // Without a valid beginning, the rest isn't chunks.
      case .png: bytes[12..<16].elementsEqual("IHDR".utf8) && Self.findChunk(in: bytes) { $0 == "IEND" } == .cutOff
      case .jpeg: Self.isCutOffJPEG(bytes)
      case .gif: Self.isCutOffGIF(bytes)
      case .webp: Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian) + 8 > bytes.count
      case .avif, .heif, .jpegXL, .bmp, .tiff, .icon: false
      }
    }
  }

  /// Some servers add zeros or a line break, even to a GIF that is cut off.
  private static func isCutOffGIF(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.lastIndex { ![0x00, 0x0A, 0x0D].contains($0) }.map { $0 + 1 } ?? 0
    return followGIF(UnsafeRawBufferPointer(rebasing: bytes[..<count])).last == nil
  }

  /// The result of following the chunks of a PNG.
  enum ChunkSearch: Equatable {
    case found(String)
    /// The bytes end first.
    case cutOff
    case damaged
  }

  /// Follows the chunks of a PNG to the first with one of the names (ISO/IEC 15948, section 5.3).
  static func findChunk(
    in bytes: UnsafeRawBufferPointer, where isWanted: (String) -> Bool
  ) -> ChunkSearch {
    var place = 8
    while place + 12 <= bytes.count {
      let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
      let name = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
      if isWanted(name) { return .found(name) }
      guard length <= Int(Int32.max) else { return .damaged }
      place += 12 + length
    }
    return .cutOff
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
