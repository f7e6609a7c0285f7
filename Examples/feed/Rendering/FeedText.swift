import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// A feed as text. Text from outside is escaped.
struct FeedText: Sendable {
  let address: URL
  /// The feed's name, if there are several feeds.
  var name: String?
  var style = Style.plain

  /// The headline and one entry for each image.
  ///
  /// - Parameters:
  ///   - new: the positions of the images that are marked as new.
  ///   - starred: the ids of the starred images.
  func text(of feed: Feed, new: [Int] = [], starred: Set<FeedImage.ID> = []) -> String {
    let headline = headline(of: feed, new: new.count)
    guard !feed.images.isEmpty else { return headline }
    return headline + "\n" + entries(of: feed.images, new: Set(new), starred)
  }

  /// The source of the feed, and the number of items without an image. For a feed from the cache, also its age, and why
  /// it isn't the latest.
  func headline(of feed: Feed, new: Int = 0) -> String {
    let count = style.bold(counted(feed.images.count, "image")) + (new > 0 ? ", \(style.good("\(new) new"))," : "")
    let title = name ?? feed.images.title.visible
    let place = title.map { "\($0.printable(limit: 200)) (\(address.shown))" } ?? address.shown
    let omitted = Self.omitted(feed.images.omittedItems)
    switch feed.source {
    case .remote:
      return "\(count) from \(place)\n" + omitted
    case .cache(let savedAt, let age, let reason):
      let saved = style.warning("saved \(age.ago)")
      let line = "\(count) from \(place), \(saved) (\(savedAt.dayAndTime))\n"
      // The saved feed may well be the latest.
      if reason.isWithoutRequest { return line + "\(reason)".printable + "\n" + omitted }
      return line + "\(style.warning("Not the latest:")) \("\(reason)".printable)\n" + omitted
    case .part(let reason):
      return "\(count) from \(place)\n" + "\(style.warning("Incomplete, and not saved:")) \("\(reason)".printable)\n"
        + omitted
    }
  }

  /// One entry for each image: its caption, its date, its place, and the URLs of its post and of the image itself.
  ///
  /// - Parameter skipped: the number of images that are left out at the beginning.
  func entries(
    of images: some Collection<FeedImage>, new: Set<Int> = [], _ starred: Set<FeedImage.ID> = [], after skipped: Int = 0
  ) -> String {
    let width = String(images.count).count
    var text = ""
    for (index, image) in images.enumerated().dropFirst(skipped) {
      text += Self.entry(
        index + 1, width: width, of: image, from: image.published?.dayAndTime, isNew: new.contains(index),
        isStarred: starred.contains(image.id), style)
    }
    return text
  }

  /// One entry.
  ///
  /// - Parameters:
  ///   - width: the number of digits of the longest number in the list.
  ///   - origin: the image's feed and date.
  static func entry(
    _ number: Int, width: Int, of image: FeedImage, from origin: String? = nil, isNew: Bool = false,
    isStarred: Bool = false,
    _ style: Style
  ) -> String {
    let number = String(number)
    let margin = String(repeating: " ", count: width + 2)
    var text = String(repeating: " ", count: width - number.count) + "\(number). "
    if isStarred { text += style.warning("★") + " " }
    if isNew { text += style.good("[new]") + " " }
    text += image.caption.visible.map { style.bold($0.printable) } ?? style.dim("(no description)")
    text += "\n"
    if let origin { text += "\(margin)\(origin)\n" }
    if let location = image.location.visible?.printable { text += "\(margin)\(location)\n" }
    if let link = image.linkShown { text += "\(margin)\(link)\n" }
    return text + "\(margin)\(style.dim(image.addressText.printable))\n"
  }

  static func omitted(_ items: Int) -> String {
    items == 0
      ? ""
      : "\(items) \(items == 1 ? "item has" : "items have") no image and \(items == 1 ? "isn't" : "aren't") shown\n"
  }

}

extension String? {
  /// The text itself; `nil` when it has no visible character.
  var visible: String? {
    guard let self, self.hasVisibleCharacter else { return nil }
    return self
  }
}

extension FeedImage {
  /// The URL of the post, as text; `nil` when it is the same as the image's.
  var linkShown: String? { post.linkText.flatMap { $0 == addressText ? nil : $0.printable } }
}

extension Date {
  /// ISO 8601 in UTC, to the second: for programs.
  var stamp: String { formatted(.iso8601) }
}
