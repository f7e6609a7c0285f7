public import Foundation

extension FeedImage {
  /// The permanent identity of an image: a UUID, and its number among the images with that UUID in its feed.
  ///
  /// Its text is the UUID in upper case. If the number isn't 1, a hyphen and the number follow.
  public struct ID: Hashable, Sendable {
    public let uuid: UUID
    /// 1 for the first image with this UUID in its feed.
    public let number: UInt32

    public init(_ uuid: UUID, number: UInt32 = 1) {
      self.uuid = uuid
      self.number = number
    }

    /// The id of an item that is named `name` in its document: `name` itself if it is a UUID, otherwise a UUID made
    /// from the name and the URL of the feed (RFC 9562, version 5, in the namespace of URLs). The same name and URL
    /// always give the same id.
    public init(name: String, in feed: URL) {
      self.init(UUID(canonical: name) ?? UUID(version5: "\(feed.absoluteString)\n\(name)"))
    }
  }
}

extension FeedImage.ID: CustomStringConvertible {
  public var description: String {
    String(unsafeUninitializedCapacity: Self.longestText) { write(to: $0.baseAddress!) }
  }

  /// The length of a UUID, a hyphen, and a ten-digit number.
  private static let longestText = 47

  /// Writes the text, which is at most 47 bytes long. This is faster than `uuidString`, which formats digit by digit
  /// with `printf`.
  ///
  /// - Returns: its length.
  package func write(to start: UnsafeMutablePointer<UInt8>) -> Int {
    var end = start
    func append(_ byte: UInt8) {
      end.initialize(to: byte)
      end += 1
    }
    func append(hexadecimal digit: UInt8) {
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
    }
    withUnsafeBytes(of: uuid.uuid) { bytes in
      for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
        append(hexadecimal: byte >> 4)
        append(hexadecimal: byte & 0xF)
      }
    }
    if number != 1 {
      append(UInt8(ascii: "-"))
      for byte in String(number).utf8 { append(byte) }
    }
    return end - start
  }
}

extension UUID {
  /// Accepts 32 hexadecimal digits of either case, with hyphens after the 8th, 12th, 16th and 20th, and nothing else.
  fileprivate init?(canonical text: String) {
    guard text.utf8.count == 36, let uuid = UUID(uuidString: text), uuid.uuidString == text.uppercased() else {
      return nil
    }
    self = uuid
  }

  fileprivate init(version5 name: String) {
    // RFC 9562, section 6.6: the namespace of URLs.
    let namespace: [UInt8] = [
      0x6B, 0xA7, 0xB8, 0x11, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
    ]
    var bytes = Array(SHA1.digest(of: namespace + Array(name.utf8)).prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
  }
}
