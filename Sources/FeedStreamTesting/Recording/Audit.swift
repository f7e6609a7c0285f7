import FeedStream

/// What a test must have tidied up by its end.
final class Audit {
  private struct Entry {
    weak var subject: (any Auditable)?
    let site: CallSite
  }
  private var entries: [Entry] = []

  func add(_ subject: any Auditable, _ site: CallSite) { entries.append(Entry(subject: subject, site: site)) }

  /// Fails the test for everything that is left over, each on the line it came from.
  ///
  /// - Parameter note: is added to each message.
  func close(note: String) {
    for entry in entries {
      guard let subject = entry.subject else { continue }
      let leftovers = subject.leftovers
      for leftover in leftovers { entry.site.fail(leftover + note) }
      if leftovers.isEmpty {
        entry.site.fail(
          "The subscriber made here is still retained though its stream is over: something keeps it, a cycle perhaps."
            + note)
      }
      subject.discard()
    }
    entries = []
  }

  /// What is left over while the test still holds its subscribers.
  func closeOpen(note: String) {
    for entry in entries {
      for leftover in entry.subject?.leftovers ?? [] { entry.site.fail(leftover + note) }
      entry.subject?.discard()
    }
  }
}

/// Something a test can leave untidy.
protocol Auditable: AnyObject {
  /// A sentence for each thing left over.
  var leftovers: [String] { get }
  /// Breaks what keeps it alive.
  func discard()
}

extension Recorder: Auditable {
  var leftovers: [String] {
    var leftovers: [String] = []
    let unread = unreadEvents
    if !unread.isEmpty {
      let list = unread.prefix(5).map { "\($0)" }.joined(separator: ", ")
      let what = unread.count == 1 ? "an event" : "\(unread.count) events"
      leftovers.append("Nobody looked at \(what): \(list)\(unread.count > 5 ? ", …" : "").")
    }
    if isLive { leftovers.append("The subscription made here is still live: end the stream or cancel it.") }
    return leftovers
  }

  func discard() { cancel() }
}
