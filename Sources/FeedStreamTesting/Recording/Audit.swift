import FeedStream

/// What a test must have tidied up by its end.
final class Audit {
  /// Something a test can leave untidy, and the line it came from.
  final class Entry {
    fileprivate weak var subject: (any Auditable)?
    fileprivate let site: CallSite
    /// What was left over when the subject went, if it has gone.
    fileprivate(set) var legacy: [String] = []

    fileprivate init(_ subject: any Auditable, _ site: CallSite) {
      self.subject = subject
      self.site = site
    }

    /// Keeps what the subject leaves behind as it goes.
    func bequeath(_ leftovers: [String]) { legacy = leftovers }
  }

  private var entries: [Entry] = []
  private var sources: [(record: SubscriptionRecord, site: CallSite)] = []

  func add(_ subject: any Auditable, _ site: CallSite) -> Entry {
    let entry = Entry(subject, site)
    entries.append(entry)
    return entry
  }

  /// Watches a subscription of a publisher that was made at `site`.
  func add(_ record: SubscriptionRecord, _ site: CallSite) { sources.append((record, site)) }

  /// Fails the test for everything that is left over, each on the line it came from.
  ///
  /// - Parameter note: is added to each message.
  func close(note: String) {
    for entry in entries {
      for leftover in entry.legacy { entry.site.fail(leftover + note) }
      guard let subject = entry.subject else { continue }
      let leftovers = subject.leftovers
      for leftover in leftovers { entry.site.fail(leftover + note) }
      if leftovers.isEmpty {
        entry.site.fail(
          "The subscriber made here is still retained though its stream is over: something keeps it, a cycle or work "
            + "that is still pending.\(note)")
      }
      subject.discard()
    }
    // Only now: what the recorders above were subscribed to has been cancelled with them.
    for (record, site) in sources where record.isLive {
      site.fail(
        "A subscription to the publisher made here is still live: \(record). Cancel it, or end the stream.\(note)")
    }
    entries = []
    sources = []
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
    unreadLeftovers + (isLive ? ["The subscription made here is still live: end the stream or cancel it."] : [])
  }

  /// What nobody looked at.
  var unreadLeftovers: [String] {
    let unread = unreadEvents
    guard !unread.isEmpty else { return [] }
    let list = unread.prefix(5).map { "\($0)" }.joined(separator: ", ")
    let what = unread.count == 1 ? "an event" : "\(unread.count) events"
    return ["Nobody looked at \(what): \(list)\(unread.count > 5 ? ", …" : "")."]
  }

  func discard() { cancel() }
}
