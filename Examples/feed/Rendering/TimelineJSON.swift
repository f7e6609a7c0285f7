import Foundation
import ImageFeed
import PlainText

/// Images of several feeds as JSON, each with the feed that it is of.
enum TimelineJSON {
  /// One line: the feeds, with the error of each that cannot be shown, and the images.
  static func line(_ timeline: FeedTimeline, failures: [(address: URL, error: String)]) -> String {
    var feeds: [String] = timeline.members.map { member in
      "{\(of(member.address, member.name)),\(origin(of: member.feed.source))}"
    }
    feeds += failures.map { failure in
      "{\"url\":\(FeedJSON.quoted(failure.address.shown)),\"error\":\(FeedJSON.quoted(failure.error.printable))}"
    }
    var json = "{\"feeds\":[\(feeds.joined(separator: ","))],\"feed\":["
    for (index, entry) in timeline.enumerated() {
      if index > 0 { json += "," }
      json += item(entry)
    }
    return json + "]}\n"
  }

  /// One line for each image.
  static func lines(_ timeline: FeedTimeline) -> String { timeline.map { item($0) + "\n" }.joined() }

  /// `{"feed":{"url","title"},"id","description"?,"location"?,"published"?,"url"}`.
  static func item(_ entry: FeedTimeline.Entry) -> String {
    let image = entry.image
    var json = "{\"feed\":{\(of(entry.address, entry.name))},\"id\":\(FeedJSON.quoted("\(image.id)"))"
    if let description = image.description { json += ",\"description\":\(FeedJSON.quoted(description))" }
    if let location = image.location { json += ",\"location\":\(FeedJSON.quoted(location))" }
    if let published = image.published { json += ",\"published\":\(FeedJSON.quoted(published.stamp))" }
    return json + ",\"url\":\(FeedJSON.quoted(image.url.absoluteString))}"
  }

  /// The members that say whose something is.
  static func of(_ address: URL, _ name: String) -> String {
    "\"url\":\(FeedJSON.quoted(address.shown)),\"title\":\(FeedJSON.quoted(name))"
  }

  private static func origin(of source: LoadSource) -> String {
    switch source {
    case .remote: "\"origin\":\"remote\""
    case .cache(let savedAt, _, let reason):
      "\"origin\":\"cache\",\"savedAt\":\(FeedJSON.quoted(savedAt.stamp)),"
        + "\"reason\":\(FeedJSON.quoted("\(reason)".printable))"
    case .part(let reason): "\"origin\":\"part\",\"reason\":\(FeedJSON.quoted("\(reason)".printable))"
    }
  }
}
