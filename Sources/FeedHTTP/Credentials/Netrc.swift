import Foundation

/// The credentials of a `.netrc` file: `machine`, `default`, `login`, `password`; `account` and `macdef` are skipped.
///
/// Values may be quoted, as curl writes them. The first entry for a host is used; `default` applies to hosts without an
/// entry.
public struct Netrc: Sendable, Equatable {
  /// The reason why a file is not read.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(path: String, String)
    /// Users other than the owner have access to the file.
    case readableByOthers(path: String)
    /// A line violates the format; the line's content isn't shown.
    case malformed(path: String, line: Int)

    public var description: String {
      switch self {
      case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
      case .readableByOthers(let path): "other users have access to \(path); run chmod 600 \(path)"
      case .malformed(let path, let line): "\(path) is not a valid netrc file: see line \(line)"
      }
    }
  }

  private struct Entry: Sendable, Equatable {
    /// The host; `nil` for `default`.
    var machine: String?
    var login: String?
    var password: String?
  }

  private var entries: [Entry] = []

  /// Reads a file that only its owner may read.
  public init(path: String) throws(Failure) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .unreadable(path: path, String(cString: strerror(errno))) }
    // Refuses a regular file that other users may already have read. A pipe is not shared with them.
    let isShared = status.st_mode & (S_IRWXG | S_IRWXO) != 0
    guard !isShared || status.st_mode & S_IFMT != S_IFREG else { throw .readableByOthers(path: path) }
    let text: String
    do {
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw .unreadable(path: path, error.systemReason)
    }
    self = try Self.parse(text, path: path)
  }

  /// Reads the text of a file.
  public init(text: String) throws(Failure) { self = try Self.parse(text, path: "the text") }

  private init() {}

  /// The credentials for a host; `nil` when there are none.
  public func credentials(for host: String) -> Credentials? {
    let host = host.lowercased()
    let entry = entries.first { $0.machine == host } ?? entries.first { $0.machine == nil }
    guard let entry, let login = entry.login else { return nil }
    return .basic(user: login, password: entry.password ?? "")
  }

  // MARK: Reading

  private static func parse(_ text: String, path: String) throws(Failure) -> Netrc {
    var netrc = Netrc()
    var isInMacro = false
    // The word whose value is expected.
    var expected: String?
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: isLineEnd).enumerated() {
      // A macro ends with an empty line.
      if isInMacro {
        isInMacro = !line.allSatisfy(\.isWhitespace)
        continue
      }
      guard let words = words(in: line) else { throw .malformed(path: path, line: number + 1) }
      for word in words {
        if let name = expected {
          expected = nil
          guard netrc.set(name, word) else { throw .malformed(path: path, line: number + 1) }
        } else if word == "default" {
          netrc.entries.append(Entry())
        } else if word == "macdef" {
          isInMacro = true
          break
        } else if ["machine", "login", "password", "account"].contains(word) {
          expected = word
        } else {
          throw .malformed(path: path, line: number + 1)
        }
      }
    }
    return netrc
  }

  /// CR and LF are a single `Character`.
  private static func isLineEnd(_ character: Character) -> Bool { character == "\n" || character == "\r\n" }

  private mutating func set(_ name: String, _ value: String) -> Bool {
    switch name {
    case "machine": entries.append(Entry(machine: value.lowercased()))
    case _ where entries.isEmpty: return false
    case "login": entries[entries.count - 1].login = value
    case "password": entries[entries.count - 1].password = value
    default: break
    }
    return true
  }

  /// The words of a line up to a comment; `nil` if a quoted word isn't closed.
  private static func words(in line: Substring) -> [String]? {
    var words: [String] = []
    var rest = line.drop(while: \.isWhitespace)
    while let first = rest.first, first != "#" {
      guard first == "\"" else {
        let word = rest.prefix { !$0.isWhitespace }
        words.append(String(word))
        rest = rest[word.endIndex...].drop(while: \.isWhitespace)
        continue
      }
      var word = ""
      var isEscaped = false
      rest = rest.dropFirst()
      while let character = rest.first, isEscaped || character != "\"" {
        if isEscaped || character != "\\" { word.append(character) }
        isEscaped = !isEscaped && character == "\\"
        rest = rest.dropFirst()
      }
      guard rest.first == "\"" else { return nil }
      words.append(word)
      rest = rest.dropFirst().drop(while: \.isWhitespace)
    }
    return words
  }
}
