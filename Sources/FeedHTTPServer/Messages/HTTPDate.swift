/// Dates of header fields (RFC 9110, 5.6.7), as seconds since 1970.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int64) -> String {
    // Years 1 to 9999; a file's date may be anything.
    let seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
    let day = Int((seconds - ((seconds % 86_400) + 86_400) % 86_400) / 86_400)
    let second = Int(((seconds % 86_400) + 86_400) % 86_400)
    let (year, month, date) = civil(day)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let long = "\(year)"
    let four = String(repeating: "0", count: 4 - long.count) + long
    return "\(days[((day % 7) + 7) % 7]), \(two(date)) \(months[month - 1]) \(four) "
      + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
  }

  /// Reads today's form and the two that came before it.
  static func seconds(_ text: String) -> Int64? {
    let parts = text.split { $0 == " " || $0 == "-" || $0 == "," }
    let asc = parts.count == 5
    guard asc || parts.count == 6, asc || parts[5] == "GMT" else { return nil }
    guard let month = months.firstIndex(of: String(asc ? parts[1] : parts[2])),
      let date = number(asc ? parts[2] : parts[1]),
      var year = number(asc ? parts[4] : parts[3]), (1...31).contains(date)
    else { return nil }
    // Two digits: RFC 850, within this half of the century.
    if !asc, parts[3].count == 2 { year += year < 70 ? 2000 : 1900 }
    let time = parts[asc ? 3 : 4].split(separator: ":")
    guard time.count == 3, time.allSatisfy({ $0.count == 2 }), let hour = number(time[0]), let minute = number(time[1]),
      let second = number(time[2]), hour < 24, minute < 60, second <= 60, year >= 1
    else { return nil }
    let day = day(year, month + 1, date)
    // The thirtieth of February is none.
    guard civil(day).date == date else { return nil }
    return Int64(day) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } && text.count <= 4 ? Int(text) : nil
  }

  // Years begin in March here, so that a leap day is the last of its year; an era has 400 of them.

  private static func civil(_ day: Int) -> (year: Int, month: Int, date: Int) {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let ofEra = shifted - era * 146_097
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    let isNext = month >= 10
    return (year + era * 400 + (isNext ? 1 : 0), isNext ? month - 9 : month + 3, ofYear - (153 * month + 2) / 5 + 1)
  }

  private static func day(_ year: Int, _ month: Int, _ date: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let ofEra = year - era * 400
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
    return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
  }
}
