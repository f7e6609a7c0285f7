package import Foundation

extension Date {
  /// The day, the time of day and the name of the user's time zone, in the form that every text uses.
  package var dayAndTime: String { dayAndTime(hasSeconds: false) }

  /// The day and the time of day, to the second.
  package var dayAndSecond: String { dayAndTime(hasSeconds: true) }

  private func dayAndTime(hasSeconds: Bool) -> String {
    let (parts, zone) = local
    let day = [parts.tm_mon + 1, parts.tm_mday].map { "-" + digits($0, 2) }.joined()
    let second = hasSeconds ? ":" + digits(parts.tm_sec, 2) : ""
    let time = "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2))\(second)"
    return "\(digits(parts.tm_year + 1900, 4))\(day) \(time) \(zone)"
  }

  /// The time of day in the user's time zone, to the second.
  package var timeOfDay: String {
    let (parts, _) = local
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }.joined(separator: ":")
  }

  private var local: (tm, zone: String) {
    var seconds = time_t(timeIntervalSince1970)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return (parts, parts.tm_zone.map { String(cString: $0) } ?? "")
  }
}

/// A number with zeros before it. `String(format:)` takes far longer, and a list has a time in each line.
private func digits(_ number: Int32, _ width: Int) -> String {
  let text = String(number)
  return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}
