public import FeedHTTPTypes
public import Foundation

extension HTTPDate {
  /// The instant that `text` represents, or `nil` when it isn't an HTTP date.
  ///
  /// - Parameter now: the current time. It determines the century of a two-digit year, which is at most 50 years ahead
  ///   (RFC 9110, section 5.6.7).
  public static func parse(_ text: String, now: Date = Date()) -> Date? {
    seconds(text, now: seconds(now)).map { Date(timeIntervalSince1970: Double($0)) }
  }

  /// The date in HTTP's format: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public static func text(_ date: Date) -> String { text(seconds(date)) }

  /// The number of whole seconds since 1970, clamped, because a stored date may be damaged.
  private static func seconds(_ date: Date) -> Int64 {
    Int64(min(max(date.timeIntervalSince1970, -1e12), 1e12).rounded(.down))
  }
}
