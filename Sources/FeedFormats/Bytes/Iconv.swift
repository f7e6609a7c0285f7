import CLibrary

/// glibc's converter from a legacy encoding to UTF-8, chunk by chunk.
///
/// - Note: `@unchecked Sendable`: each converter belongs to a single decoder. Using copies of a decoder on two threads
///   would give wrong characters, but `TextDecoder` is not copied.
final class Iconv: @unchecked Sendable {
  private let converter: iconv_t
  /// The number of bytes in a code unit.
  private let unit: Int
  private var carried: [UInt8] = []

  /// Creates a converter; returns `nil` if glibc does not support the encoding.
  init?(_ encoding: String) {
    guard let converter = iconv_open("UTF-8", encoding), converter != iconv_t(bitPattern: -1) else { return nil }
    self.converter = converter
    unit = encoding.hasPrefix("UTF-16") ? 2 : encoding.hasPrefix("UTF-32") ? 4 : 1
  }

  deinit { iconv_close(converter) }

  /// Converts `bytes` to UTF-8 and appends them. Each invalid code unit becomes U+FFFD.
  ///
  /// - Returns: false if there was an invalid code unit.
  func append(_ bytes: Bytes, isLast: Bool, to text: inout [UInt8]) -> Bool {
    var isClean = true
    var input = carried
    input.append(bytes)
    carried = []
    input.withUnsafeMutableBytes { input in
      var next = input.baseAddress?.assumingMemoryBound(to: CChar.self)
      var left = input.count
      while left > 0 {
        let status = convert(&next, &left, to: &text)
        guard status != 0 else { continue }
        if status == EINVAL, !isLast {
          carried = Array(input.suffix(left))
          return
        }
        if status != E2BIG {
          isClean = false
          text.append("\u{FFFD}")
          // Skip the whole code unit; otherwise, all units after it would be read from the wrong byte on.
          let skipped = min(unit, left)
          next = next.map { $0 + skipped }
          left -= skipped
        }
      }
    }
    return isClean
  }

  /// Converts as much as fits into a piece; returns 0 or the error's number.
  private func convert(
    _ next: inout UnsafeMutablePointer<CChar>?, _ left: inout Int, to text: inout [UInt8]
  ) -> Int32 {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { piece in
      var (place, room) = (piece.baseAddress, piece.count)
      let result = iconv(converter, &next, &left, &place, &room)
      let status = result == -1 ? errno : 0
      UnsafeMutableRawBufferPointer(start: piece.baseAddress, count: piece.count - room).withMemoryRebound(
        to: UInt8.self
      ) { text.append(Bytes($0)) }
      return status
    }
  }
}
