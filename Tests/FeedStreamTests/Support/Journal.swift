import FeedStream

/// What was seen, in order, on whichever thread.
final class Journal<Entry: Sendable>: Sendable {
  private let log = Locked<[Entry]>([])
  var entries: [Entry] { log.withLock { $0 } }
  func note(_ entry: Entry) { log.withLock { $0.append(entry) } }
}
