import Foundation

extension Gallery {
  /// What an event says: what version there is, and who is away.
  var status: String { status(about: nil, updated: nil) }

  /// - Parameters:
  ///   - feed: the one that changed.
  ///   - updated: when it was asked for, in microseconds since 1970.
  func status(about feed: String?, updated: Int64?) -> String {
    struct Status: Encodable {
      struct Trouble: Encodable {
        let feed: String
        let reason: String
        let saved: Bool
      }
      let run: String
      let version: Int
      let pictures: Int
      var feed: String?
      var updated: Int64?
      let away: [Trouble]
    }
    let away = sources.compactMap { source in
      source.trouble.map { reason in
        Status.Trouble(feed: source.name, reason: reason, saved: !source.entries.isEmpty)
      }
    }
    let count = sources.reduce(0) { $0 + $1.entries.count }
    return encoded(
      Status(run: run, version: version, pictures: count, feed: feed, updated: updated, away: away))
  }
}

/// JSON with its keys in order, `feed_url` for `feedURL`.
func encoded(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = .convertToSnakeCase
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // Values of these types always can be.
  return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
}
