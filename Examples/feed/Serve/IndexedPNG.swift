import CZlib
import TerminalImages

/// Writes a PNG whose pixels are indices into a palette (PNG, third edition, sections 5, 7 and 11).
enum IndexedPNG {
  /// - Parameter pixels: the index into `palette` of each pixel, row by row.
  static func encode(_ pixels: [UInt8], width: Int, height: Int, palette: [RGB]) -> [UInt8] {
    let depth = palette.count <= 2 ? 1 : palette.count <= 4 ? 2 : palette.count <= 16 ? 4 : 8
    var rows: [UInt8] = []
    rows.reserveCapacity((width * depth / 8 + 2) * height)
    for y in 0..<height {
      rows.append(0)  // no filter
      var (byte, bits) = (UInt8(0), 0)
      for pixel in pixels[y * width..<(y + 1) * width] {
        byte |= pixel << UInt8(8 - depth - bits)
        bits += depth
        if bits == 8 {
          rows.append(byte)
          (byte, bits) = (0, 0)
        }
      }
      if bits > 0 { rows.append(byte) }
    }
    let header = number(width) + number(height) + [UInt8(depth), 3, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk("IHDR", header) + chunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
      + chunk("IDAT", deflated(rows)) + chunk("IEND", [])
  }

  private static func number(_ value: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(value).bigEndian) { Array($0) }
  }

  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    let named = Array(name.utf8) + body
    let sum = named.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
    return number(body.count) + named + number(Int(sum))
  }

  private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    var length = compressBound(UInt(bytes.count))
    var result = [UInt8](repeating: 0, count: Int(length))
    let code = compress2(&result, &length, bytes, UInt(bytes.count), 9)
    precondition(code == Z_OK, "IndexedPNG: zlib returned \(code), although the buffer is large enough")
    return Array(result.prefix(Int(length)))
  }
}
