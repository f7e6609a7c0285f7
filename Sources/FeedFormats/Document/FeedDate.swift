import CLibrary

/// A point in time, to the second.
public struct FeedDate: Hashable, Comparable, Sendable {
  public var secondsSince1970: Int64

  public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  /// Reads a date as feeds write it: RFC 822 and its variants, RFC 3339, ISO 8601 without week numbers, `asctime`, East
  /// Asian dates, and seconds or milliseconds since 1970.
  ///
  /// A date without a time means midnight, a time without a zone is in GMT, and two-digit years are read as in RFC
  /// 2822.
  public init?(_ text: String) {
    guard let date = text.withBytes({ FeedDate(parsing: $0) }) else { return nil }
    self = date
  }

  public static func < (one: FeedDate, other: FeedDate) -> Bool { one.secondsSince1970 < other.secondsSince1970 }
}

extension FeedDate: CustomStringConvertible {
  /// ISO 8601 in GMT: `2003-12-31T10:14:55Z`.
  public var description: String {
    var (seconds, date) = (time_t(secondsSince1970), tm())
    gmtime_r(&seconds, &date)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return "\(digits(date.tm_year + 1900, 4))-\(digits(date.tm_mon + 1))-\(digits(date.tm_mday))"
      + "T\(digits(date.tm_hour)):\(digits(date.tm_min)):\(digits(date.tm_sec))Z"
  }
}

/// The parts of a date that have been found so far.
struct DateParts {
  var year: Int?
  var month: Int?
  var day: Int?
  var hour = 0
  var minute = 0
  var second = 0
  /// The hours that the half of the day adds, 0 or 12; `nil` if the half is unknown.
  var half: Int?
  /// The offset from UTC in seconds, from a number.
  var offset: Int?
  /// The offset from UTC in seconds, from the name of a zone; used if there is no number.
  var zone: Int?

  var date: FeedDate? {
    guard let year, (1...9999).contains(year), let month, (1...12).contains(month) else { return nil }
    let day = day ?? 1
    guard (1...Self.days(in: month, of: year)).contains(day), hour <= 24, minute < 60, second <= 60,
      // 24:00:00 is the end of the day.
      hour < 24 || minute == 0 && second == 0
    else { return nil }
    let days = Self.daysSince1970(year, month, day)
    return FeedDate(secondsSince1970: Int64(days * 86_400 + hour * 3600 + minute * 60 + second - (offset ?? zone ?? 0)))
  }

  static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of days from 1970 to a date.
  ///
  /// On the machine described in `Benchmarks/RESULTS.md`, `timegm` takes 72 ns and this calculation takes 9 ns; each
  /// item of a feed has a date or two. In this calculation, years begin in March, so that leap days come last.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Sets the month and the day from a day of the year.
  mutating func setDayOfYear(_ ordinal: Int) {
    guard let year, ordinal >= 1, ordinal <= (Self.isLeap(year) ? 366 : 365) else {
      month = nil
      return
    }
    var rest = ordinal
    for month in 1...12 {
      let days = Self.days(in: month, of: year)
      if rest <= days {
        (self.month, day) = (month, rest)
        return
      }
      rest -= days
    }
  }
}
