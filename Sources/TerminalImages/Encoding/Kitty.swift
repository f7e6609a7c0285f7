/// An image in the graphics protocol of kitty (sw.kovidgoyal.net/kitty/graphics-protocol).
package struct Kitty: Hashable, Sendable {
  /// The image's data, in parts of at most 4,096 characters, as the protocol requires.
  let parts: [[UInt8]]
  /// The image's format, and its size in pixels.
  let keys: String

  package init(_ bitmap: Bitmap) {
    let isOpaque = bitmap.isOpaque
    keys = "f=\(isOpaque ? 24 : 32),s=\(bitmap.width),v=\(bitmap.height)"
    var pixels = bitmap.rgba
    if isOpaque {
      pixels = []
      pixels.reserveCapacity(bitmap.width * bitmap.height * 3)
      for place in stride(from: 0, to: bitmap.rgba.count, by: 4) { pixels += bitmap.rgba[place..<place + 3] }
    }
    let text = Base64.encode(pixels)
    parts = stride(from: 0, to: text.count, by: 4096).map { Array(text[$0..<min($0 + 4096, text.count)]) }
  }

  /// The approximate number of bytes that ``sending(_:)`` returns.
  package var size: Int { parts.reduce(0) { $0 + $1.count + 16 } }

  /// The sequence that shows the image at the cursor, in `columns` by `rows` characters; the cursor doesn't move.
  package func shown(columns: Int, rows: Int) -> [UInt8] { sending("a=T,\(keys),c=\(columns),r=\(rows),C=1,q=2") }

  /// The sequence that sends the image to the terminal, which keeps it under a number.
  package func kept(as number: Int) -> [UInt8] { sending("a=t,i=\(number),\(keys),q=2") }

  /// The sequence that shows, at the cursor, an image that the terminal keeps; the cursor doesn't move. An image may be
  /// shown in several places.
  package static func placed(_ number: Int, at place: Int, columns: Int, rows: Int) -> [UInt8] {
    command("a=p,i=\(number),p=\(place),c=\(columns),r=\(rows),C=1,q=2")
  }

  /// The sequence that removes an image from one place on the screen; the terminal keeps the image.
  package static func removed(_ number: Int, at place: Int) -> [UInt8] {
    command("a=d,d=i,i=\(number),p=\(place),q=2")
  }

  /// The sequence that removes an image from the screen and from the terminal's memory.
  package static func forgotten(_ number: Int) -> [UInt8] { command("a=d,d=I,i=\(number),q=2") }

  /// The sequence that removes all images from the screen and from the terminal's memory.
  package static var allForgotten: [UInt8] { command("a=d,d=A,q=2") }

  /// The sequence that queries whether the terminal supports the protocol, with a one-pixel image that the terminal
  /// doesn't show.
  package static var question: [UInt8] { command("i=\(questionNumber),s=1,v=1,a=q,t=d,f=24;AAAA") }
  package static let questionNumber = 31

  private func sending(_ first: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size + first.utf8.count)
    for (index, part) in parts.enumerated() {
      let more = index < parts.count - 1 ? 1 : 0
      bytes += "\u{1B}_G\(index == 0 ? first + "," : "q=2,")m=\(more);".utf8
      bytes += part
      bytes += "\u{1B}\\".utf8
    }
    return bytes
  }

  private static func command(_ keys: String) -> [UInt8] { Array("\u{1B}_G\(keys)\u{1B}\\".utf8) }
}

/// Base 64 (RFC 4648, section 4).
package enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var place = 0
    while place < bytes.count {
      let there = min(3, bytes.count - place)
      let three =
        Int(bytes[place]) << 16 | (there > 1 ? Int(bytes[place + 1]) << 8 : 0) | (there > 2 ? Int(bytes[place + 2]) : 0)
      text.append(digits[three >> 18])
      text.append(digits[three >> 12 & 63])
      text.append(there > 1 ? digits[three >> 6 & 63] : UInt8(ascii: "="))
      text.append(there > 2 ? digits[three & 63] : UInt8(ascii: "="))
      place += 3
    }
    return text
  }
}
