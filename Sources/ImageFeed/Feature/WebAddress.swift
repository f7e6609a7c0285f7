import FeedFormats
import Foundation

/// The URL of an image, which becomes a `URL` only when it is read.
///
/// Foundation's parser takes longer than everything else involved in reading an image, and a `URL` takes several times
/// the memory of its text. Most images are compared, saved and read again without their URL ever being used.
enum WebAddress: Hashable, Sendable {
  /// Text that is certainly a URL: see ``isPlain(_:)``. Such text is never stored as `other`, so that equal URLs
  /// compare as equal.
  case plain(String)
  case other(URL)

  init(_ url: URL) {
    let text = url.absoluteString
    self = Self.isPlain(text) ? .plain(text) : .other(url.absoluteURL)
  }

  /// `text` as a URL if it is plain or `parse` accepts it.
  init?(_ text: consuming String, parse: (String) -> URL? = { URL(string: $0) }) {
    if Self.isPlain(text) {
      self = .plain(text)
    } else if let url = parse(text) {
      self.init(url)
    } else {
      return nil
    }
  }

  /// `text` as a URL; the text has been accepted before.
  init(_ text: String, isPlain: Bool) {
    // The text was a URL before, so it can be parsed again.
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
    // Every parser accepts plain text.
    case .plain(let text): URL(string: text)!
    case .other(let url): url
    }
  }

  /// True for text that is certainly a URL, because no two parsers can disagree about it.
  static func isPlain(_ text: String) -> Bool { isPlainWebAddress(text) }

  static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool { text.isPlainWebAddress }
}
