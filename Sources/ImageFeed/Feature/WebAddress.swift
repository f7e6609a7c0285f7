import Foundation

/// The address of a picture, made a `URL` of only when somebody asks for one.
///
/// Foundation's parser takes longer than all the rest of reading an image, and a `URL` several times the memory of its
/// text. Most images of a feed are compared, saved and read again without anyone asking for their address.
enum WebAddress: Hashable, Sendable {
  /// A text that is an address beyond doubt: see ``isPlain(_:)``. What is plain is never `other`, so that equal addresses
  /// are equal here.
  case plain(String)
  case other(URL)

  init(_ url: URL) {
    let text = url.absoluteString
    self = Self.isPlain(text) ? .plain(text) : .other(url.absoluteURL)
  }

  /// The address that `text` is, if it is one for `parse`, which is not asked about what is plain.
  init?(_ text: consuming String, parse: (String) -> URL? = { URL(string: $0) }) {
    if Self.isPlain(text) {
      self = .plain(text)
    } else if let url = parse(text) {
      self.init(url)
    } else {
      return nil
    }
  }

  /// The address that `text` is, which was one before.
  init(_ text: String, isPlain: Bool) {
    // What a URL writes as its text it can read again.
    self = isPlain ? .plain(text) : .other(URL(string: text)!)
  }

  var isPlain: Bool { if case .plain = self { true } else { false } }

  var text: String {
    switch self {
    case .plain(let text): text
    case .other(let url): url.absoluteString
    }
  }

  var url: URL {
    switch self {
    // What is plain is an address for every parser.
    case .plain(let text): URL(string: text)!
    case .other(let url): url
    }
  }

  /// Whether `text` is `http://` or `https://`, a host of letters, digits, dots and hyphens, and then nothing, or a path
  /// and a query that need no encoding (RFC 3986, section 3): nothing that parsers could differ about.
  static func isPlain(_ text: String) -> Bool {
    // Texts that Swift made itself are contiguous; another is parsed.
    text.utf8.withContiguousStorageIfAvailable { isPlain($0) } ?? false
  }

  static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let schemes: (StaticString, StaticString) = ("http://", "https://")
    let scheme = begins(text, with: schemes.0) ? schemes.0 : schemes.1
    guard begins(text, with: scheme) else { return false }
    let (host, others) = (CharacterSet.host, CharacterSet.path)
    let start = scheme.utf8CodeUnitCount
    var index = start
    while index < text.count, host.holds(text[index]) { index += 1 }
    guard index > start else { return false }
    if index < text.count, text[index] != UInt8(ascii: "/") { return false }
    while index < text.count, others.holds(text[index]) { index += 1 }
    return index == text.count
  }

  private static func begins(_ text: UnsafeBufferPointer<UInt8>, with prefix: StaticString) -> Bool {
    guard let start = text.baseAddress, text.count >= prefix.utf8CodeUnitCount else { return false }
    return memcmp(start, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
  }

  /// Some of the ASCII characters, a bit each.
  private struct CharacterSet {
    static let host = CharacterSet("-.")
    static let path = CharacterSet("-._~/?=&+,;:@!*")

    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Letters, digits and `others`.
    init(_ others: StaticString) {
      let alphanumerics: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
      for text in [alphanumerics, others] {
        text.withUTF8Buffer { for byte in $0 { insert(byte) } }
      }
    }

    private mutating func insert(_ byte: UInt8) {
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }

    @inline(__always) func holds(_ byte: UInt8) -> Bool {
      byte < 64 ? low >> UInt64(byte) & 1 != 0 : byte < 128 && high >> UInt64(byte - 64) & 1 != 0
    }
  }
}
