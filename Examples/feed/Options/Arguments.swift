import ArgumentParser
import Foundation
import ImageFeed
import PlainText

/// A duration in the notation of the command line: `500ms`, `90s`, `15m`, `36h`, `7d`.
struct DurationArgument: Equatable, CustomStringConvertible {
  let duration: Duration
  var description: String { duration.text }

  init(_ duration: Duration) { self.duration = duration }

  /// Reads a duration that is greater than zero.
  init(positive text: String) throws {
    duration = try Self.read(text)
    guard duration > .zero else { throw ValidationError("The duration must be greater than zero.") }
  }

  fileprivate static func read(_ text: String) throws -> Duration {
    do throws(DurationTextError) {
      return try Duration(parsing: text)
    } catch {
      throw ValidationError("\(error)")
    }
  }
}

/// The maximum age of a saved feed: a duration, or `none` for any age.
struct MaxAge: Equatable, CustomStringConvertible {
  let duration: Duration?
  var description: String { duration?.text ?? "none" }

  init(_ duration: Duration?) { self.duration = duration }

  init(parsing text: String) throws {
    if text == "none" {
      duration = nil
    } else {
      do {
        duration = try DurationArgument.read(text)
      } catch let error as ValidationError {
        throw ValidationError("\(error.message) \"none\" accepts any age.")
      }
    }
  }
}

/// The interval of a watch: a duration, or `auto`.
struct WatchInterval: Equatable, CustomStringConvertible {
  /// The duration; `nil` to adapt to how often a feed changes.
  let duration: Duration?
  var description: String { duration?.text ?? "auto" }

  init(parsing text: String) throws { duration = text == "auto" ? nil : try DurationArgument(positive: text).duration }
}

/// The URL of a feed: absolute, http or https.
enum FeedAddress {
  /// Parses a URL. Also accepts `feed:https://…` and `feed://…`, which pages use in links.
  static func parse(_ text: String) throws -> URL { try parse(text, hintsAtFiles: true) }

  /// - Parameter hintsAtFiles: false if a file may also be given.
  static func parse(_ text: String, hintsAtFiles: Bool) throws -> URL {
    var text = text
    if text.lowercased().hasPrefix("feed:") {
      text.removeFirst(5)
      if text.hasPrefix("//") { text = "http:" + text }
    }
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else {
      throw ValidationError(advice(on: text, hintsAtFiles))
    }
    guard scheme == "http" || scheme == "https", url.host?.isEmpty == false else {
      throw ValidationError(advice(on: text, hintsAtFiles))
    }
    if let port = url.port, !(1...65_535).contains(port) {
      throw ValidationError("A port must be a number from 1 to 65535.")
    }
    return url
  }

  /// The URL as it is requested: the scheme and the host in lowercase, and no fragment.
  static func requested(_ url: URL) -> URL {
    let text = url.absoluteString.prefix { $0 != "#" }
    guard let start = text.range(of: "://") else { return url }
    let end = text[start.upperBound...].firstIndex { "/?".contains($0) } ?? text.endIndex
    let host = text[start.upperBound..<end].lastIndex(of: "@") ?? start.upperBound
    let (scheme, name) = (text[..<start.lowerBound].lowercased(), text[host..<end].lowercased())
    return URL(string: "\(scheme)\(text[start.lowerBound..<host])\(name)\(text[end...])") ?? url
  }

  /// Suggests the URL that was probably meant.
  private static func advice(on text: String, _ hintsAtFiles: Bool) -> String {
    let needed = "Pass an http or https URL, such as https://example.com/feed.json."
    if text.prefixMatch(of: /https?:\/\//.ignoresCase()) != nil, text.contains(where: \.isWhitespace) {
      return "\(needed) This URL contains a space; remove it."
    }
    if hintsAtFiles, let advice = WrongPlaceAdvice.advice(onFile: text) { return "\(needed) \(advice)" }
    if let match = text.firstMatch(of: /:\/\/([0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F.]*)(?:\/|$)/) {
      return "\(needed) Write an IPv6 address in brackets: [\(match.1)]."
    }
    if hintsAtFiles, text.hasPrefix("."), !FileManager.default.fileExists(atPath: text) {
      return "\(needed) There is no file \(text.printable)."
    }
    return completed(text).map { "\(needed) Did you mean \($0.printable)?" } ?? needed
  }

  /// The URL of which text is probably a part; `nil` if the text isn't part of one, or may contain a password.
  static func completed(_ text: String) -> String? {
    guard !text.contains(/:.*@/.dotMatchesNewlines()) else { return nil }
    if let match = text.wholeMatch(of: /(https?)(?::\/?|\/\/?)([^\/:].*)/.ignoresCase()) {
      let url = "\(match.1.lowercased())://\(match.2)"
      return URL(string: url)?.host == nil ? nil : url
    }
    // Don't take `mailto:someone` or `file:/path` for a host and a port.
    let hasScheme = text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:(?![0-9])/) != nil
    let isPath = text.hasPrefix("/") || text.hasPrefix(".")
    guard !hasScheme, !isPath, !text.isEmpty, let url = URL(string: "http://\(text)"), let host = url.host else {
      return nil
    }
    // Most public hosts speak https on its own port; others, such as localhost or a numeric address, often don't.
    let isPublic =
      [nil, 443].contains(url.port) && host.contains { $0.isLetter } && host.contains(".") && !host.contains(":")
    return "\(isPublic ? "https" : "http")://\(text)"
  }
}

/// The format in which a feed is written.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
  case text, json
}

/// The source of the feeds in one load, if it isn't the default.
enum ReadChoice: EnumerableFlag {
  case offline, refresh, preferCache

  var mode: ReadMode {
    switch self {
    case .offline: .cacheOnly
    case .refresh: .networkOnly
    case .preferCache: .cacheFirst
    }
  }

  static func help(for choice: ReadChoice) -> ArgumentHelp? {
    switch choice {
    case .offline: "Show the saved feed without making a request."
    case .refresh: "Show only the server's feed, never the saved one."
    case .preferCache:
      "Show the saved feed; load from the server only if no feed is saved, or the saved feed has expired."
    }
  }
}

extension FallbackPolicy: ExpressibleByArgument {}
