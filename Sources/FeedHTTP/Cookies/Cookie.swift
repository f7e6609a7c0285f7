public import Foundation

/// A cookie in a ``CookieJar`` (RFC 6265bis, section 5.7).
public struct Cookie: Sendable, Hashable {
  public var name: String
  public var value: String
  /// The host that the cookie is for, in lower case; includes subdomains unless ``isHostOnly`` is true.
  public var domain: String
  public var isHostOnly: Bool
  /// The path that the cookie is for, including all paths below it.
  public var path: String
  /// The time at which the cookie expires; `nil` if it lasts as long as the jar.
  public var expires: Date?
  /// True if the cookie is sent over https only.
  public var isSecure: Bool
  /// True if scripts in pages cannot read the cookie; has no effect here.
  public var isHTTPOnly: Bool
  /// The time at which the cookie was first set.
  public var created: Date
}

/// One parsed `Set-Cookie` field (RFC 6265bis, section 5.6).
struct SetCookie {
  var name = ""
  var value = ""
  var expires: Date?
  var maxAge: Int?
  var domain: String?
  var path: String?
  var isSecure = false
  var isHTTPOnly = false

  /// The maximum number of bytes in a cookie's name and value together, and in an attribute.
  static let most = 4096
  private static let mostAttribute = 1024

  /// - Returns: `nil` for a field that doesn't set a cookie.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    // Split at bytes, as servers do: a `Character` may contain a semicolon or an equals sign and the scalars around it.
    let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Substring($0) }
    let pair = parts[0]
    if let (name, value) = Self.halves(pair) {
      (self.name, self.value) = (name, value)
    } else {
      value = Self.trimmed(pair)
    }
    guard !name.isEmpty || !value.isEmpty, name.utf8.count + value.utf8.count <= Self.most else { return nil }
    for part in parts.dropFirst() {
      let (name, value) = Self.halves(part) ?? (Self.trimmed(part), "")
      guard value.utf8.count <= Self.mostAttribute else { continue }
      set(name.lowercased(), value)
    }
    // A cookie without a name could imitate a prefixed name with its value.
    if name.isEmpty, CookiePrefix(value) != nil { return nil }
  }

  private mutating func set(_ attribute: String, _ value: String) {
    switch attribute {
    case "expires": if let date = CookieDate.parse(value) { expires = date }
    case "max-age":
      let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
      guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return }
      maxAge = value.hasPrefix("-") ? 0 : Int(value) ?? .max
    case "domain": domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
    case "path": path = value.hasPrefix("/") ? value : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    default: break
    }
  }

  private static func halves(_ text: Substring) -> (String, String)? {
    guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (trimmed(text[..<sign]), trimmed(text[text.utf8.index(after: sign)...]))
  }

  private static func trimmed(_ text: Substring) -> String { text.trimmingCharacters(in: [" ", "\t"]) }
}

/// The beginning of a cookie's name that restricts how the cookie is set (RFC 6265bis, section 4.1.3).
enum CookiePrefix: String, CaseIterable {
  case secure = "__secure-"
  case host = "__host-"

  init?(_ name: String) {
    let name = name.lowercased()
    guard let found = Self.allCases.first(where: { name.utf8.starts(with: $0.rawValue.utf8) }) else { return nil }
    self = found
  }
}

/// Parses cookie dates leniently, in any of the formats in use (RFC 6265bis, section 5.1.1).
enum CookieDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  static func parse(_ text: String) -> Date? {
    var (time, day, month, year): ((Int, Int, Int)?, Int?, Int?, Int?)
    for token in text.utf8.split(whereSeparator: isDelimiter) {
      let token = Array(token)
      if time == nil, let found = clock(token) {
        time = found
      } else if day == nil, let found = digits(token, 1...2) {
        day = found
      } else if month == nil, let found = self.month(token) {
        month = found
      } else if year == nil, let found = digits(token, 2...4) {
        year = found
      }
    }
    guard let time, let day, let month, var year else { return nil }
    if 70...99 ~= year { year += 1900 } else if 0...69 ~= year { year += 2000 }
    guard 1...31 ~= day, year >= 1601, time.0 <= 23, time.1 <= 59, time.2 <= 59 else { return nil }
    var parts = DateComponents()
    (parts.year, parts.month, parts.day) = (year, month, day)
    (parts.hour, parts.minute, parts.second) = time
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0)!
    // Rejects days that the month doesn't have, such as February 30.
    guard let date = calendar.date(from: parts), calendar.component(.day, from: date) == day else { return nil }
    return date
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// The number at the start of a token, if it has an allowed number of digits.
  private static func digits(_ token: some Collection<UInt8>, _ count: ClosedRange<Int>) -> Int? {
    let digits = token.prefix { 0x30...0x39 ~= $0 }
    guard count.contains(digits.count) else { return nil }
    return digits.reduce(0) { 10 * $0 + Int($1 - 0x30) }
  }

  private static func clock(_ token: [UInt8]) -> (Int, Int, Int)? {
    let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[..<2].allSatisfy({ $0.allSatisfy { 0x30...0x39 ~= $0 } }),
      let hour = digits(parts[0], 1...2), let minute = digits(parts[1], 1...2), let second = digits(parts[2], 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  private static func month(_ token: [UInt8]) -> Int? {
    months.firstIndex(of: String(decoding: token.prefix(3), as: UTF8.self).lowercased()).map { $0 + 1 }
  }
}
