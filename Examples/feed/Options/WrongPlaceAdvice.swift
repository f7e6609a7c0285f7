import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// Advice for a file where a URL is expected, a URL where a file is expected, or a feed where a list of feeds is
/// expected.
enum WrongPlaceAdvice {
  static var adviceOnRemoteList: String {
    "Save it as a file; then \"feed load --opml <file>\" shows its feeds, and \"feed subscriptions import <file>\" adds "
      + "them to your list."
  }

  static func uses(ofList path: String) -> String {
    let path = path.printable
    return "\"feed load --opml \(path)\" shows its feeds, and \"feed subscriptions import \(path)\" adds them to your "
      + "list."
  }

  /// Advice for text that refers to a file instead of a URL; `nil` for any other text.
  static func advice(onFile text: String) -> String? {
    let path = URL(string: text).flatMap { $0.isFileURL ? $0.path : nil } ?? text
    guard let bytes = bytes(ofFile: path) else { return nil }
    if (try? OPML(parsing: bytes)) != nil { return "\(path.printable) is a list of feeds: \(uses(ofList: path))" }
    return "\(path.printable) is a file: \"feed inspect \(path.printable)\" shows its content."
  }

  /// The bytes of a file; `nil` if it isn't a regular file, because reading a pipe might never end.
  static func bytes(ofFile path: String) -> [UInt8]? {
    var status = stat()
    guard !path.isEmpty, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= FeedLimits().documentBytes
    else { return nil }
    return (try? Data(contentsOf: URL(fileURLWithPath: path))).map { [UInt8]($0) }
  }
}
