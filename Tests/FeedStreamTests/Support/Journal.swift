import FeedStream

/// A record of events, in order, from any thread.
final class Journal<Entry: Sendable>: Sendable {
  private let log = Locked<[Entry]>([])
  var entries: [Entry] { log.withLock { $0 } }
  func note(_ entry: Entry) { log.withLock { $0.append(entry) } }
}
