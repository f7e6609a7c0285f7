import FeedFormats
import Foundation

/// The hours and days at which, according to the feed, nothing changes (RSS 2.0, `skipHours` and `skipDays`), in GMT.
struct SkippedTimes {
  /// Bit n is hour n.
  private var hours: UInt32 = 0
  /// Bit n is the nth day after Thursday, because 1970 began on a Thursday.
  private var days: UInt8 = 0

  init(_ hints: PollingHints) {
    for hour in hints.skippedHours where (0...23).contains(hour) { hours |= 1 << UInt32(hour) }
    for day in hints.skippedDays {
      let name = day.trimmingCharacters(in: .whitespaces).lowercased()
      guard name.utf8.count >= 3, let index = Self.names.firstIndex(where: { $0.hasPrefix(name) }) else { continue }
      days |= 1 << UInt8(index)
    }
    // Skipping every hour or every day would mean never polling the feed, so such a list is ignored.
    if hours == (1 << 24) - 1 { hours = 0 }
    if days == (1 << 7) - 1 { days = 0 }
  }

  private static let names = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"]

  /// The beginning of the first hour after `date` that is not skipped; `nil` if `date` itself isn't skipped.
  func next(after date: Date) -> Date? {
    guard hours != 0 || days != 0 else { return nil }
    let hour = Int((date.timeIntervalSince1970 / 3600).rounded(.down))
    guard isSkipped(hour) else { return nil }
    let next = (hour + 1...hour + 8 * 24).first { !isSkipped($0) }
    return next.map { Date(timeIntervalSince1970: Double($0) * 3600) }
  }

  /// - Parameter hour: the number of hours since 1970.
  private func isSkipped(_ hour: Int) -> Bool {
    let hourOfDay = ((hour % 24) + 24) % 24
    let day = (((hour - hourOfDay) / 24 % 7) + 7) % 7
    return hours & 1 << UInt32(hourOfDay) != 0 || days & 1 << UInt8(day) != 0
  }
}
