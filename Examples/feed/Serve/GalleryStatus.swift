import FeedHTTPServer
import FeedStream
import Foundation

extension Gallery {
  /// The data of an event: the current version, and the feeds that are unreachable.
  struct Status: Encodable {
    /// The maximum number of unreachable feeds that are named: each of many feeds may send an event.
    fileprivate static let mostNamed = 10

    struct Trouble: Encodable {
      let feed: String
      let reason: String
      let saved: Bool
    }
    let run: String
    var version: Int
    let images: Int
    /// The feed that changed.
    var feed: String?
    /// The time when the feed was requested, in microseconds since 1970.
    var updated: Int64?
    /// The trace of the poll that found the change, as in `traceparent`.
    var trace: String?
    let away: [Trouble]
    /// The number of feeds that are unreachable.
    let failing: Int
  }

  /// The current state, as an event reports it.
  var status: String { encoded(present) }

  var present: Status {
    let away = sources.lazy.compactMap { [sources] source in
      source.trouble.map { reason in
        Status.Trouble(feed: source.failingName(among: sources), reason: reason, saved: !source.entries.isEmpty)
      }
    }
    .prefix(Status.mostNamed)
    let failing = sources.count { $0.trouble != nil }
    let count = sources.reduce(0) { $0 + $1.entries.count }
    return Status(run: run, version: version, images: count, away: Array(away), failing: failing)
  }
}

extension Gallery {
  /// The events and the status of a gallery, for servers on other loops.
  struct Shared: Sendable {
    let events = EventLog.Channel()
    /// The current status. It is updated before the event is sent, so a client that has received the event finds it
    /// here.
    let status = SharedValue("")
    /// True if other processes have the same events.
    let hasOthers: Bool
  }

  /// The number of clients of event streams.
  var eventClients: Int { shared?.events.clientCount ?? events.clientCount }

  /// Sends the current state.
  func send(_ name: String) {
    let status = status
    shared?.status.value = status
    events.send(status, name: name)
  }

  /// Tells all clients that their state is out of date.
  func reset(id: String) {
    shared?.status.value = status
    events.reset(id: id)
  }
}
