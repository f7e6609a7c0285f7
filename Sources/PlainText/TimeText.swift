package import Foundation

extension Date {
  /// The day, the time of day and the name of the user's time zone, in the form that every text uses.
  package var dayAndTime: String {
    var seconds = time_t(timeIntervalSince1970)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return String(
      format: "%04d-%02d-%02d %02d:%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
      parts.tm_min) + " " + (parts.tm_zone.map { String(cString: $0) } ?? "")
  }
}
