import Foundation
import ImageFeed
import PlainText

/// A feed as text for people. Text from outside is escaped.
struct FeedText: Sendable {
  let address: URL
  var style = Style.plain

  /// The headline and one entry for each image.
  func text(of feed: Feed) -> String {
    let headline = headline(of: feed)
    guard !feed.images.isEmpty else { return headline }
    return headline + "\n" + entries(of: feed.images)
  }

  /// The source of the feed; for the cache, also its age and why it is not the latest.
  func headline(of feed: Feed) -> String {
    let count = style.bold(Self.count(feed.images.count))
    let place = address.shown
    switch feed.source {
    case .remote:
      return "\(count) from \(place)\n" + Self.omitted(feed.images.omittedItems)
    case .cache(let savedAt, let age, let reason):
      let saved = style.warning("saved \(age.ago)")
      return "\(count) \(saved) (\(savedAt.stamp)), from the cache of \(place)\n"
        + "\(style.warning("Not the latest:")) \("\(reason)".printable)\n"
    }
  }

  /// One entry for each image: its description, its place, and its address.
  func entries(of images: some Collection<FeedImage>) -> String {
    let width = String(images.count).count
    var text = ""
    for (index, image) in images.enumerated() {
      let number = String(index + 1)
      let margin = String(repeating: " ", count: width + 2)
      text += String(repeating: " ", count: width - number.count) + "\(number). "
      text += Self.visible(image.description).map(style.bold) ?? style.dim("(no description)")
      text += "\n"
      if let location = Self.visible(image.location) { text += "\(margin)\(location)\n" }
      text += "\(margin)\(style.dim(image.addressText.printable))\n"
    }
    return text
  }

  private static func omitted(_ items: Int) -> String {
    items == 0
      ? ""
      : "\(items) \(items == 1 ? "item has" : "items have") no picture and \(items == 1 ? "is" : "are") not shown\n"
  }

  static func count(_ images: Int) -> String { "\(images) \(images == 1 ? "image" : "images")" }

  /// `nil` when the text has no visible character.
  private static func visible(_ text: String?) -> String? {
    guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
    return text.printable
  }
}

extension Date {
  /// ISO 8601 in UTC, to the second.
  var stamp: String { formatted(.iso8601) }

  /// The time of day in the user's time zone.
  var timeOfDay: String {
    var seconds = time_t(timeIntervalSince1970)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return String(format: "%02d:%02d:%02d", parts.tm_hour, parts.tm_min, parts.tm_sec)
  }
}
