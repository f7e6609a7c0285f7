import CLibrary

/// Dates in header fields (RFC 9110, section 5.6.7), as a cache reads them (RFC 9111, section 4.2).
///
/// All three formats are read, with names of days and months in upper or lower case. Nothing else is accepted: a date
/// in a different time zone, with fewer digits or with more spaces isn't a date. A cache treats anything that isn't a
/// date as a date in the past.
public enum HTTPDate {
  /// The instant that `text` represents, in seconds since 1970; `nil` if it isn't an HTTP date.
  ///
  /// - Parameter now: the current time. It determines the century of a two-digit year, which is at most 50 years ahead.
  package static func seconds(_ text: String, now: Int64 = Int64(time(nil))) -> Int64? {
    let reader = Reader(bytes: ArraySlice(text.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }))
    return reader.fixdate() ?? reader.rfc850(now) ?? reader.asctime()
  }

  /// The date in HTTP's format: `Sun, 06 Nov 1994 08:49:37 GMT`. The years are 1 to 9999; other dates are
  /// replaced by the first or the last second of that range.
  package static func text(_ seconds: Int64) -> String {
    let date = civil(min(max(seconds, -62_135_596_800), 253_402_300_799))
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: count - text.count) + text
    }
    let day = capitalized(weekdays[Int(date.tm_wday)].prefix(3))
    return
      "\(day), \(digits(date.tm_mday)) \(capitalized(months[Int(date.tm_mon)][...])) \(digits(date.tm_year + 1900, 4)) "
      + "\(digits(date.tm_hour)):\(digits(date.tm_min)):\(digits(date.tm_sec)) GMT"
  }

  private static func capitalized(_ name: Substring) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  fileprivate static func civil(_ seconds: Int64) -> tm {
    var (time, date) = (time_t(seconds), tm())
    gmtime_r(&time, &date)
    return date
  }

  fileprivate static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
  fileprivate static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
}

/// Reads one date, in lower case, from its beginning to its end.
private struct Reader {
  var bytes: ArraySlice<UInt8>

  /// `sun, 06 nov 1994 08:49:37 gmt`
  func fixdate() -> Int64? {
    var this = self
    guard this.take(oneOf: HTTPDate.weekdays.map { String($0.prefix(3)) }) != nil, this.take(", "),
      let day = this.number(2), this.take(" "), let month = this.take(oneOf: HTTPDate.months), this.take(" "),
      let year = this.number(4), this.take(" "), let time = this.time(), this.take(" gmt"), this.bytes.isEmpty
    else { return nil }
    return date(year, month, day, time)
  }

  /// `sunday, 06-nov-94 08:49:37 gmt`
  func rfc850(_ now: Int64) -> Int64? {
    var this = self
    guard this.take(oneOf: HTTPDate.weekdays) != nil, this.take(", "), let day = this.number(2), this.take("-"),
      let month = this.take(oneOf: HTTPDate.months), this.take("-"), let short = this.number(2), this.take(" "),
      let time = this.time(), this.take(" gmt"), this.bytes.isEmpty
    else { return nil }
    // The limit is the end of this day in fifty years; `timegm` corrects a February 29 that doesn't exist then.
    var last = HTTPDate.civil(now)
    let present = Int(last.tm_year) + 1900
    (last.tm_year, last.tm_hour, last.tm_min, last.tm_sec) = (last.tm_year + 50, 24, 0, 0)
    let limit = Int64(timegm(&last))
    for century in [present / 100 + 1, present / 100, present / 100 - 1] {
      if let found = date(century * 100 + short, month, day, time), found < limit { return found }
    }
    return nil
  }

  /// `sun nov  6 08:49:37 1994`
  func asctime() -> Int64? {
    var this = self
    guard this.take(oneOf: HTTPDate.weekdays.map { String($0.prefix(3)) }) != nil, this.take(" "),
      let month = this.take(oneOf: HTTPDate.months), this.take(" "),
      let day = this.take(" ") ? this.number(1) : this.number(2), this.take(" "), let time = this.time(),
      this.take(" "),
      let year = this.number(4), this.bytes.isEmpty
    else { return nil }
    return date(year, month, day, time)
  }

  private func date(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Int64? {
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
    let start = timegm(&parts)
    // `timegm` turns February 30 into another date.
    return parts.tm_mday == Int32(day) ? Int64(start) + Int64(time) : nil
  }

  /// `08:49:37`, in seconds; a leap second is allowed.
  private mutating func time() -> Int? {
    guard let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60, take(":"),
      let second = number(2), second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private mutating func number(_ digits: Int) -> Int? {
    let found = bytes.prefix(digits)
    guard found.count == digits, found.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    bytes = bytes.dropFirst(digits)
    return found.reduce(0) { 10 * $0 + Int($1 - 0x30) }
  }

  private mutating func take(_ text: String) -> Bool {
    guard bytes.starts(with: text.utf8) else { return false }
    bytes = bytes.dropFirst(text.utf8.count)
    return true
  }

  private mutating func take(oneOf texts: [String]) -> Int? { texts.firstIndex { take($0) } }
}
