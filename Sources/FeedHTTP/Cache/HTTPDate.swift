public import Foundation

/// Dates of header fields (RFC 9110, section 5.6.7), as a cache reads them (RFC 9111, section 4.2).
///
/// All three forms are read, names of days and months in whatever case. Nothing else is: a date in another zone, with
/// fewer digits or with more spaces isn't a date, and anything that isn't a date counts as past.
public enum HTTPDate {
  /// The instant that `text` names, or `nil` when it isn't a date of HTTP.
  ///
  /// - Parameter now: decides the century of a year of two digits: at most 50 years ahead.
  public static func parse(_ text: String, now: Date = Date()) -> Date? {
    let reader = Reader(bytes: ArraySlice(text.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }))
    return reader.fixdate() ?? reader.rfc850(now) ?? reader.asctime()
  }

  /// A date in the form that is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public static func text(_ date: Date) -> String {
    let seconds = Int(date.timeIntervalSince1970.rounded(.down))
    let days = floorDivide(seconds, 86_400)
    let (year, month, day) = civil(days)
    let time = seconds - days * 86_400
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let name = weekdays[((days + 3) % 7 + 7) % 7].prefix(3).capitalized
    let padded = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
    return "\(name), \(two(day)) \(months[month - 1].capitalized) \(padded) "
      + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
  }

  fileprivate static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
  fileprivate static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static func floorDivide(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
  }

  /// The number of days from 1970-01-01 to a day of the Gregorian calendar. Years are counted from March, whose leap day
  /// comes last.
  fileprivate static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = floorDivide(year, 400)
    let ofEra = year - era * 400
    let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
  }

  fileprivate static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = floorDivide(shifted, 146_097)
    let ofEra = shifted - era * 146_097
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    let day = ofYear - (153 * month + 2) / 5 + 1
    return (year + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
  }
}

/// Reads one date, in lower case, from its beginning to its end.
private struct Reader {
  var bytes: ArraySlice<UInt8>

  /// `sun, 06 nov 1994 08:49:37 gmt`
  func fixdate() -> Date? {
    var this = self
    guard this.take(oneOf: HTTPDate.weekdays.map { String($0.prefix(3)) }) != nil, this.take(", "),
      let day = this.number(2), this.take(" "), let month = this.take(oneOf: HTTPDate.months), this.take(" "),
      let year = this.number(4), this.take(" "), let time = this.time(), this.take(" gmt"), this.bytes.isEmpty
    else { return nil }
    return date(year, month + 1, day, time)
  }

  /// `sunday, 06-nov-94 08:49:37 gmt`
  func rfc850(_ now: Date) -> Date? {
    var this = self
    guard this.take(oneOf: HTTPDate.weekdays) != nil, this.take(", "), let day = this.number(2), this.take("-"),
      let month = this.take(oneOf: HTTPDate.months), this.take("-"), let short = this.number(2), this.take(" "),
      let time = this.time(), this.take(" gmt"), this.bytes.isEmpty
    else { return nil }
    let today = Int((now.timeIntervalSince1970 / 86_400).rounded(.down))
    let present = HTTPDate.civil(today).year
    var year = present - present % 100 + short
    if year < present - 49 { year += 100 }
    guard let found = date(year, month + 1, day, time) else { return nil }
    let (_, thisMonth, thisDay) = HTTPDate.civil(today)
    let limit = Double(HTTPDate.days(present + 50, thisMonth, thisDay)) * 86_400 + 86_400
    return found.timeIntervalSince1970 < limit ? found : date(year - 100, month + 1, day, time)
  }

  /// `sun nov  6 08:49:37 1994`
  func asctime() -> Date? {
    var this = self
    guard this.take(oneOf: HTTPDate.weekdays.map { String($0.prefix(3)) }) != nil, this.take(" "),
      let month = this.take(oneOf: HTTPDate.months), this.take(" "),
      let day = this.take(" ") ? this.number(1) : this.number(2), this.take(" "), let time = this.time(),
      this.take(" "),
      let year = this.number(4), this.bytes.isEmpty
    else { return nil }
    return date(year, month + 1, day, time)
  }

  private func date(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Date? {
    let first = HTTPDate.days(year, month, 1)
    let next = month == 12 ? HTTPDate.days(year + 1, 1, 1) : HTTPDate.days(year, month + 1, 1)
    guard (1...(next - first)).contains(day) else { return nil }
    return Date(timeIntervalSince1970: Double((first + day - 1) * 86_400 + time))
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
