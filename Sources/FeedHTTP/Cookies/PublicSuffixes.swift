import Foundation

/// The domains under which anyone may register a name, such as `com` and `co.uk`. They can't have cookies
/// (https://publicsuffix.org).
public struct PublicSuffixes: Sendable {
  /// The subject of a rule: the domain itself, all names directly below it, or a name that is an exception to those.
  private enum Rule: Sendable {
    case suffix, wildcard, exception
  }

  private var rules: [String: Rule] = [:]
  private var wildcards: Set<String> = []
  private let isList: Bool

  /// The rules of a list in the format of publicsuffix.org.
  public init(list: String) {
    isList = true
    for line in list.split(whereSeparator: \.isNewline) {
      guard let rule = line.split(whereSeparator: \.isWhitespace).first, !rule.hasPrefix("//") else { continue }
      if rule.hasPrefix("!") {
        rules[Self.host(rule.dropFirst())] = .exception
      } else if rule.hasPrefix("*.") {
        wildcards.insert(Self.host(rule.dropFirst(2)))
      } else {
        rules[Self.host(rule)] = .suffix
      }
    }
  }

  /// Rules without a list. A domain of one label is public. A domain of two labels, such as `co.uk`, is public if the
  /// first has at most three letters and the second has two. This errs on the side of fewer cookies, but doesn't cover
  /// `github.io`.
  public init() { isList = false }

  /// The system's list (Debian's `publicsuffix` package), or ``init()`` if there is none.
  public static let system: PublicSuffixes = {
    let path = "/usr/share/publicsuffix/public_suffix_list.dat"
    return (try? String(contentsOfFile: path, encoding: .utf8)).map(PublicSuffixes.init(list:)) ?? PublicSuffixes()
  }()

  /// A name as a URL's host has it: lists and `Set-Cookie` fields may contain non-ASCII names, but hosts are in punycode
  /// (`xn--…`).
  static func host(_ name: Substring) -> String {
    let name = name.lowercased()
    guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
    return URL(string: "http://\(name)/")?.host(percentEncoded: false) ?? name
  }

  /// True for a domain under which anyone may register a name.
  public func contains(_ domain: String) -> Bool {
    let labels = Self.host(domain[...]).split(separator: ".")
    guard labels.count > 1 else { return true }
    guard isList else { return labels.count == 2 && labels[1].count == 2 && labels[0].count <= 3 }
    let name = labels.joined(separator: ".")
    if let rule = rules[name] { return rule == .suffix }
    return wildcards.contains(labels.dropFirst().joined(separator: "."))
  }
}
