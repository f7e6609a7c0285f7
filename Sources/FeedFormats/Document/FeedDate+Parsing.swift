extension FeedDate {
  init?(parsing bytes: Bytes) {
    var text = bytes.trimmed
    guard (4...120).contains(text.count) else { return nil }
    // East Asian dates are first rewritten in the form of ISO 8601.
    let spelled = text.contains { $0 >= 0xE0 } ? DateNames.numeric(text) : nil
    func date(_ text: Bytes) -> FeedDate? {
      var (numbers, words) = (DateReader(text), DateReader(text))
      return numbers.iso() ?? words.allWords() ?? DateReader.secondsSince1970(text)
    }
    if let spelled {
      guard let date = spelled.withBytes({ date($0.trimmed) }) else { return nil }
      self = date
      return
    }
    // Drop a comment, as in `Thu, 01 Jan 2004 …; some remark`.
    if let end = text.firstIndex(of: UInt8(ascii: ";"), from: 4, to: text.count) { text = text.part(0, end) }
    guard let date = date(text) else { return nil }
    self = date
  }
}

/// Reads a date from left to right.
private struct DateReader {
  private let text: Bytes
  private var index = 0
  private var parts = DateParts()
  /// True when a time follows the day and the month: a zone's name may come before the year.
  private var isZoneNext = false

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

  /// Ten digits are seconds since 1970 (for the years 2001 to 2033); thirteen are milliseconds.
  static func secondsSince1970(_ text: Bytes) -> FeedDate? {
    guard text.count == 10 || text.count == 13, text.allSatisfy(\.isDigit), text[0] == UInt8(ascii: "1") else {
      return nil
    }
    return FeedDate(secondsSince1970: text.prefix(10).reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) })
  }

  // MARK: ISO 8601

  /// `2003-12-31T10:14:55.2+01:00`, `20031231`, `2003-335`, `2003-12`, `2003/12/31 10:14`, `2003-12-31 7:14 PM`.
  mutating func iso() -> FeedDate? {
    guard countOfDigits() >= 4, let year = number(4) else { return nil }
    parts.year = year
    let isSeparated = skipHyphen()
    let digits = countOfDigits()
    if digits == 3 {
      guard let ordinal = number(3) else { return nil }
      parts.setDayOfYear(ordinal)
    } else if digits == 0 {
      guard !isSeparated, index == text.count else { return nil }
      parts.month = 1
    } else {
      guard digits <= 2 || !isSeparated, let month = number(digits == 1 ? 1 : 2) else { return nil }
      parts.month = month
      if skipHyphen() || !isSeparated {
        let digits = countOfDigits()
        if digits > 0 {
          guard let day = number(digits == 1 ? 1 : 2) else { return nil }
          parts.day = day
        }
      }
    }
    guard parts.date != nil else { return nil }
    parts.day = parts.day ?? 1
    return readTime() ? parts.date : nil
  }

  private mutating func skipHyphen() -> Bool {
    skip(UInt8(ascii: "-")) || skip(UInt8(ascii: "/")) || skip(UInt8(ascii: "."))
  }

  /// Reads the time and other text after a date; returns false for anything except times, zones and words.
  private mutating func readTime() -> Bool {
    if !skip(UInt8(ascii: "T")), !skip(UInt8(ascii: "t")) {
      // A time may follow without a separator, as in `20031231101455`.
      guard [4, 6].contains(countOfDigits()) || current.map({ $0.isSpace || !$0.isDigit }) ?? true else { return false }
    }
    skipSpaces()
    guard countOfDigits() > 0 else { return restIsRead() }
    guard let hour = number(countOfDigits() == 1 ? 1 : 2) else { return false }
    parts.hour = hour
    if skip(UInt8(ascii: ":")) || countOfDigits() >= 2 {
      guard let minute = number(countOfDigits() == 1 ? 1 : 2) else { return false }
      parts.minute = minute
      if skip(UInt8(ascii: ":")) || countOfDigits() >= 2 {
        guard let second = number(countOfDigits() == 1 ? 1 : 2) else { return false }
        parts.second = second
      }
    }
    // A fraction, which some feeds write after a colon.
    if skip(UInt8(ascii: ".")) || skip(UInt8(ascii: ",")) || skip(UInt8(ascii: ":")) { index += countOfDigits() }
    return restIsRead()
  }

  private mutating func restIsRead() -> Bool { readWords(text.part(min(index, text.count), text.count)) }

  // MARK: RFC 822 and its variants

  /// Words in any order: `Thu, 01 Jan 2004 19:48:21 GMT`, `1-Jan-04`, `Thu Jan  1 19:48:21 2004`, `12/31/2003 7:48 PM`.
  mutating func allWords() -> FeedDate? {
    readWords(text) ? parts.date : nil
  }

  private mutating func readWords(_ text: Bytes) -> Bool {
    let words = text.split {
      $0.isSpace || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: ")")
    }
    return words.allSatisfy { take(Bytes(rebasing: $0)) }
  }

  private var isDateKnown: Bool { parts.day != nil && parts.month != nil && parts.year != nil }

  private mutating func take(_ word: Bytes) -> Bool {
    if word[0].isDigit { return takeTime(word) || takeNumber(word) }
    // After the date, a word that begins like a month may be part of a zone's name: `(Arabian Standard Time)`, `NOVT`.
    if !isDateKnown, !isZoneNext, let month = DateNames.month(word) {
      parts.month = month
      return true
    }
    if word[0] == UInt8(ascii: "+") || word[0] == UInt8(ascii: "-") {
      // Accepts `--0700`, and a hyphen between the date and the time. An impossible zone is ignored.
      let zone = word.drop { $0 == word[0] }
      guard let first = zone.first else { return true }
      guard first.isDigit || first.isLetter else { return false }
      if let offset = DateNames.offset(of: word.part(word.count - zone.count - 1, word.count)) { parts.offset = offset }
      return true
    }
    if let half = DateNames.halfOfDay(word) {
      if parts.hour <= 12 { parts.hour = parts.hour % 12 + half }
      parts.half = half
      return true
    }
    if let offset = DateNames.offset(of: word) {
      // In `GMT-0700 (MST)`, the number counts. In `GMT +1`, the number is the next word.
      if word.contains(where: \.isDigit) { parts.offset = offset } else { parts.zone = parts.zone ?? offset }
      return true
    }
    // Ignore a weekday, which follows from the date; words like `at` and `of`; and an unknown zone.
    return word.allSatisfy { $0.isLetter || $0 >= 0x80 || [0x2E, 0x2F, 0x5F, 0x27].contains($0) }
      // Such as `EST5EDT`.
      || word.last!.isLetter && word.allSatisfy { $0.isLetter || $0.isDigit }
  }

  /// `19:48`, `19:48:21.5`, `19h48`, with or without a zone at its end; `19.48` if the date is known.
  private mutating func takeTime(_ word: Bytes) -> Bool {
    if word.contains(UInt8(ascii: "/")), let colon = word.firstIndex(of: UInt8(ascii: ":"), from: 0, to: word.count) {
      // A date and a time in one word: `02/Jan/2006:15:04:05`.
      return colon > 5 && takeNumber(word.part(0, colon)) && takeTime(word.part(colon + 1, word.count))
    }
    func separates(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "h")
    }
    let end = word.firstIndex { !$0.isDigit && !separates($0) } ?? word.count
    let time = word.part(0, end)
    guard isDateKnown || time.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "h") }) else {
      return false
    }
    let numbers = time.split(whereSeparator: separates)
    guard numbers.count >= 2, numbers.prefix(3).allSatisfy({ $0.count <= 2 }) else { return false }
    let values = numbers.prefix(3).map { Bytes(rebasing: $0).integer ?? 99 }
    (parts.hour, parts.minute) = (values[0], values[1])
    isZoneNext = parts.day != nil && parts.month != nil
    if values.count > 2 { parts.second = values[2] }
    if let half = parts.half, parts.hour <= 12 { parts.hour = parts.hour % 12 + half }
    return end == word.count || take(word.part(end, word.count))
  }

  /// A day, a year, or several of these, separated by hyphens, slashes or dots.
  private mutating func takeNumber(_ word: Bytes) -> Bool {
    let pieces = word.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
    guard pieces.count > 1 else {
      let digits = word.prefix(while: \.isDigit).count
      guard digits <= 4, let number = word.integer else { return false }
      // Allow a suffix, as in `1st`, `2nd` and `2.`.
      guard digits == word.count || word.count - digits <= 2 && digits <= 2 else { return false }
      if parts.day == nil, digits <= 2 {
        parts.day = number
      } else if parts.year == nil {
        setYear(number, digits)
      }
      return true
    }
    guard pieces.count == 3 else { return false }
    let bytes = pieces.map { Bytes(rebasing: $0) }
    guard let first = bytes[0].integer, let last = bytes[2].integer else { return false }
    if let month = DateNames.month(bytes[1]) {
      // The year may come first, as in `2006-Jan-02`.
      let isYearFirst = bytes[0].count > 2
      (parts.day, parts.month) = (isYearFirst ? last : first, month)
      setYear(isYearFirst ? first : last, bytes[isYearFirst ? 0 : 2].count)
      return true
    }
    guard let second = bytes[1].integer else { return false }
    if bytes.allSatisfy({ $0.count <= 2 }), word.contains(UInt8(ascii: "-")), (1...12).contains(second), last <= 31 {
      // ISO 8601 with a year of two digits.
      (parts.month, parts.day) = (second, last)
      setYear(first, 2)
      return true
    }
    setYear(last, bytes[2].count)
    // With slashes, the month comes first, as in America, unless that number is above 12.
    let isAmerican = word.contains(UInt8(ascii: "/")) && first <= 12 || second > 12
    (parts.month, parts.day) = isAmerican ? (first, second) : (second, first)
    return true
  }

  /// RFC 2822, section 4.3.
  private mutating func setYear(_ number: Int, _ digits: Int) {
    parts.year = digits > 3 ? number : digits == 3 ? 1900 + number : number < 50 ? 2000 + number : 1900 + number
  }
}
