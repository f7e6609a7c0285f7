extension FeedDate {
  init?(parsing bytes: Bytes) {
    let text = bytes.trimmed
    guard (4...80).contains(text.count) else { return nil }
    var (numbers, words) = (DateReader(text), DateReader(text))
    guard let date = numbers.iso() ?? words.words() else { return nil }
    self = date
  }
}

/// Reads a date from left to right.
private struct DateReader {
  private let text: Bytes
  private var index = 0
  private var parts = DateParts()

  init(_ text: Bytes) { self.text = text }

  private var current: UInt8? { index < text.count ? text[index] : nil }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    index += 1
    return true
  }

  private mutating func skipSpaces() { while let current, current.isSpace { index += 1 } }

  private func countOfDigits() -> Int {
    var end = index
    while end < text.count, text[end].isDigit { end += 1 }
    return end - index
  }

  private mutating func number(_ digits: Int) -> Int? {
    guard countOfDigits() >= digits else { return nil }
    defer { index += digits }
    return text.part(index, index + digits).integer
  }

  // MARK: ISO 8601

  /// `2003-12-31T10:14:55.2+01:00`, `20031231`, `2003-335`, `2003-12`, `2003/12/31 10:14`.
  mutating func iso() -> FeedDate? {
    guard countOfDigits() >= 4, let year = number(4) else { return nil }
    parts.year = year
    let isSeparated = skip(UInt8(ascii: "-")) || skip(UInt8(ascii: "/"))
    let digits = countOfDigits()
    if digits == 3 {
      guard let ordinal = number(3) else { return nil }
      parts.setDayOfYear(ordinal)
    } else if digits == 0 {
      guard !isSeparated else { return nil }
      parts.month = 1
    } else {
      guard digits <= 2 || !isSeparated, let month = number(digits == 1 ? 1 : 2) else { return nil }
      parts.month = month
      if skip(UInt8(ascii: "-")) || skip(UInt8(ascii: "/")) || !isSeparated {
        let digits = countOfDigits()
        if digits > 0 {
          guard let day = number(digits == 1 ? 1 : 2) else { return nil }
          parts.day = day
        }
      }
    }
    return readTime() ? parts.date : nil
  }

  /// Reads the time and the zone after a date, if there are any. False for anything else.
  private mutating func readTime() -> Bool {
    if !skip(UInt8(ascii: "T")), !skip(UInt8(ascii: "t")) {
      guard current?.isSpace ?? true else { return readZone() }
    }
    skipSpaces()
    guard index < text.count else { return true }
    guard countOfDigits() > 0 else { return readZone() }
    guard let hour = number(countOfDigits() == 1 ? 1 : 2) else { return false }
    parts.hour = hour
    if skip(UInt8(ascii: ":")) || countOfDigits() >= 2 {
      guard let minute = number(2) else { return false }
      parts.minute = minute
      if skip(UInt8(ascii: ":")) || countOfDigits() >= 2 {
        guard let second = number(2) else { return false }
        parts.second = second
      }
    }
    if skip(UInt8(ascii: ".")) || skip(UInt8(ascii: ",")) { index += countOfDigits() }
    skipSpaces()
    return readZone()
  }

  private mutating func readZone() -> Bool {
    guard index < text.count else { return true }
    guard let offset = Self.offset(of: text.part(index, text.count)) else { return false }
    parts.offset = offset
    return true
  }

  // MARK: RFC 822 and its variants

  /// Words in any order: `Thu, 01 Jan 2004 19:48:21 GMT`, `1-Jan-04`, `Thu Jan  1 19:48:21 2004`, `12/31/2003 7:48 PM`.
  mutating func words() -> FeedDate? {
    let words = text.split {
      $0.isSpace || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: ")")
    }
    for word in words {
      guard take(Bytes(rebasing: word)) else { return nil }
    }
    guard parts.day != nil, parts.year != nil else { return nil }
    return parts.date
  }

  private mutating func take(_ word: Bytes) -> Bool {
    if word.contains(UInt8(ascii: ":")), word[0].isDigit { return takeTime(word) }
    if let month = Self.month(word) {
      parts.month = month
      return true
    }
    if word[0].isDigit { return takeNumber(word) }
    if let offset = Self.offset(of: word) {
      parts.offset += offset
      return true
    }
    if word.equalsIgnoringCase("pm") || word.equalsIgnoringCase("am") {
      if parts.hour <= 12 { parts.hour = parts.hour % 12 + (word[0] | 0x20 == UInt8(ascii: "p") ? 12 : 0) }
      return true
    }
    // A weekday, which follows from the date anyway; `at`, `of`, an unknown zone.
    return word.allSatisfy { $0.isLetter || $0 == UInt8(ascii: ".") || $0 >= 0x80 || $0 == UInt8(ascii: "/") }
  }

  /// `19:48`, `19:48:21.5`, with a zone at its end or not.
  private mutating func takeTime(_ word: Bytes) -> Bool {
    let end = word.firstIndex { !$0.isDigit && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ".") } ?? word.count
    let numbers = word.part(0, end).split { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    guard numbers.count >= 2, numbers.prefix(3).allSatisfy({ $0.count <= 2 }) else { return false }
    let values = numbers.prefix(3).map { Bytes(rebasing: $0).integer ?? 99 }
    (parts.hour, parts.minute) = (values[0], values[1])
    if values.count > 2 { parts.second = values[2] }
    return end == word.count || take(word.part(end, word.count))
  }

  /// A day, a year, or several of them with hyphens, slashes or dots between.
  private mutating func takeNumber(_ word: Bytes) -> Bool {
    let pieces = word.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
    guard pieces.count > 1 else {
      let digits = word.prefix(while: \.isDigit).count
      guard digits <= 4, let number = word.integer else { return false }
      // `1st`, `2nd`
      guard digits == word.count || word.count - digits == 2 && digits <= 2 else { return false }
      if parts.day == nil, digits <= 2 { parts.day = number } else { setYear(number, digits) }
      return true
    }
    guard pieces.count == 3 else { return false }
    let bytes = pieces.map { Bytes(rebasing: $0) }
    guard let first = bytes[0].integer, let last = bytes[2].integer else { return false }
    setYear(last, bytes[2].count)
    if let month = Self.month(bytes[1]) {
      (parts.day, parts.month) = (first, month)
    } else if let second = bytes[1].integer {
      // With slashes the month comes first, as in America, unless it cannot.
      let isAmerican = word.contains(UInt8(ascii: "/")) && first <= 12
      (parts.month, parts.day) = isAmerican ? (first, second) : (second, first)
    } else {
      return false
    }
    return true
  }

  /// RFC 2822, section 4.3.
  private mutating func setYear(_ number: Int, _ digits: Int) {
    parts.year = digits > 3 ? number : digits == 3 ? 1900 + number : number < 50 ? 2000 + number : 1900 + number
  }

  private static func month(_ word: Bytes) -> Int? {
    let names: [StaticString] = [
      "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    guard word.count >= 3, word.count <= 10 else { return nil }
    return names.firstIndex { word.startsIgnoringCase(with: $0) }.map { $0 + 1 }
  }

  /// Seconds east of Greenwich: `Z`, `+0100`, `-5:30`, `EST`, `GMT+1`.
  private static func offset(of zone: Bytes) -> Int? {
    let zone = zone.trimmed
    guard let first = zone.first else { return 0 }
    if first == UInt8(ascii: "+") || first == UInt8(ascii: "-") {
      let digits = Array(zone.dropFirst().filter { $0 != UInt8(ascii: ":") })
      guard (1...4).contains(digits.count), digits.allSatisfy(\.isDigit),
        let number = digits.withUnsafeBufferPointer({ $0.integer })
      else { return nil }
      let seconds = digits.count <= 2 ? number * 3600 : number / 100 * 3600 + number % 100 * 60
      return first == UInt8(ascii: "-") ? -seconds : seconds
    }
    let sign = zone.firstIndex { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
    if let sign, sign <= 3, let offset = offset(of: zone.part(sign, zone.count)) { return offset }
    let name = String(decoding: zone.map { $0 & 0xDF }, as: UTF8.self)
    return zones[name].map { Int($0 * 3600) }
  }

  private static let zones: [String: Double] = [
    "Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "WET": 0, "EST": -5, "EDT": -4, "ET": -5, "CST": -6, "CDT": -5, "CT": -6,
    "MST": -7, "MDT": -6, "MT": -7, "PST": -8, "PDT": -7, "PT": -8, "AKST": -9, "AKDT": -8, "HST": -10, "AST": -4,
    "ADT": -3, "NST": -3.5, "NDT": -2.5, "BST": 1, "WEST": 1, "CET": 1, "CEST": 2, "MET": 1, "MEST": 2, "EET": 2,
    "EEST": 3, "MSK": 3, "IST": 5.5, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
  ]
}
