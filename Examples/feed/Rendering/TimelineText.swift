import Foundation
import ImageFeed
import PlainText

/// Images of several feeds as text, each with its feed.
struct TimelineText: Sendable {
  var style = Style.plain

  /// A headline, the feeds that aren't the latest, and the entries.
  func text(of timeline: FeedTimeline) -> String {
    headline(of: timeline) + (timeline.isEmpty ? "" : "\n" + entries(of: timeline))
  }

  /// The number of images, and the feeds that aren't the latest.
  func headline(of timeline: FeedTimeline) -> String {
    let members = timeline.members
    var text = "\(style.bold(counted(timeline.count, "image"))) from \(counted(members.count, "feed"))\n"
    // Offline, many feeds have the same reason.
    var old: [(reason: String, feeds: [String])] = []
    for member in members {
      switch member.feed.source {
      case .remote: break
      case .cache(let savedAt, let age, let reason):
        let saved = "\(member.name.printable), saved \(age.ago) (\(savedAt.dayAndTime))"
        if reason.isWithoutRequest {
          text += "From the cache: \(saved)\n"
        } else if let place = old.firstIndex(where: { $0.reason == "\(reason)" }) {
          old[place].feeds.append(saved)
        } else {
          old.append(("\(reason)", [saved]))
        }
      case .part(let reason):
        let name = member.name.printable
        text += "\(style.warning("Incomplete, and not saved:")) \(name): \("\(reason)".printable)\n"
      }
    }
    for (reason, feeds) in old {
      text += "\(style.warning("Not the latest:")) \(feeds.joined(separator: "; ")): \(reason.printable)\n"
    }
    let omitted = members.reduce(0) { $0 + $1.feed.images.omittedItems }
    return text + FeedText.omitted(omitted)
  }

  /// One entry for each image: as ``FeedText`` writes it, with the feed's name and the date.
  ///
  /// - Parameter skipped: the number of images that are left out at the beginning.
  func entries(of timeline: FeedTimeline, after skipped: Int = 0) -> String {
    let width = String(timeline.count).count
    var text = ""
    for (index, entry) in timeline.enumerated().dropFirst(skipped) {
      text += FeedText.entry(
        index + 1, width: width, of: entry.image, from: Self.origin(of: entry).printable(limit: 200), style)
    }
    return text
  }

  /// The feed's name and the date, if there is one.
  static func origin(of entry: FeedTimeline.Entry) -> String {
    guard let published = entry.image.published else { return entry.name }
    return "\(entry.name), \(published.dayAndTime)"
  }
}
