import FeedFormats
import Foundation

/// The address of a picture, which becomes a `URL` only when somebody asks for one.
///
/// Foundation's parser takes longer than all the rest of reading an image, and a `URL` several times the memory of its
/// text. Most images of a feed are compared, saved and read again without anyone asking for their address.
enum WebAddress: Hashable, Sendable {
  /// A text that is certainly an address: see ``isPlain(_:)``. A plain text is never `other`, so that equal addresses
  /// are equal here.
  case plain(String)
  case other(URL)

  init(_ url: URL) {
    let text = url.absoluteString
    self = Self.isPlain(text) ? .plain(text) : .other(url.absoluteURL)
  }

  /// `text` as an address if it is plain or `parse` accepts it.
  init?(_ text: consuming String, parse: (String) -> URL? = { URL(string: $0) }) {
    if Self.isPlain(text) {
      self = .plain(text)
    } else if let url = parse(text) {
      self.init(url)
    } else {
      return nil
    }
  }

  /// `text` as an address; it was accepted before.
  init(_ text: String, isPlain: Bool) {
    // A URL can read its own text again.
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
    // A plain text is an address for every parser.
    case .plain(let text): URL(string: text)!
    case .other(let url): url
    }
  }

  /// True for a text that is certainly an address: no two parsers can differ about it.
  static func isPlain(_ text: String) -> Bool { isPlainWebAddress(text) }

  static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool { text.isPlainWebAddress }
}
