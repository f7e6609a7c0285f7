/// What a test must have tidied up by its end.
final class Audit {
  /// Something a test can leave untidy, and the line it came from.
  final class Entry {
    fileprivate weak var subject: (any Auditable)?
    fileprivate let site: CallSite
    /// What was left over when the subject went, if it has gone.
    fileprivate(set) var legacy: String?

    fileprivate init(_ subject: any Auditable, _ site: CallSite) {
      self.subject = subject
      self.site = site
    }

    /// Keeps what the subject leaves behind as it goes.
    func bequeath(_ leftover: String?) { legacy = leftover }
  }

  private var entries: [Entry] = []
  private var sources: [(leftover: () -> String?, site: CallSite)] = []
  /// Whether an expectation has failed: that work is left over then follows from the same mistake.
  private(set) var hasFailed = false
  /// Whether a diagram could not be read: whatever is not as expected then follows from that.
  private(set) var isUnreadable = false

  func add(_ subject: any Auditable, _ site: CallSite) -> Entry {
    let entry = Entry(subject, site)
    entries.append(entry)
    return entry
  }

  /// Watches a source that was made at `site`.
  ///
  /// - Parameter leftover: a sentence on what is left over, if anything is.
  func add(_ site: CallSite, leftover: @escaping () -> String?) { sources.append((leftover, site)) }

  /// An expectation has failed, as has been reported.
  func noteFailure() { hasFailed = true }

  /// A diagram cannot be read, as has been reported.
  func noteUnreadable() {
    hasFailed = true
    isUnreadable = true
  }

  /// Fails the test for everything that is left over, once for each line it came from.
  ///
  /// - Parameter note: is added to each message.
  func close(note: String) {
    var messages: [(site: CallSite, text: String)] = []
    // The last first: who delivers streams may end them as it is cancelled.
    for entry in entries.reversed() { entry.subject?.settle() }
    for entry in entries {
      if let legacy = entry.legacy { messages.append((entry.site, legacy)) }
      guard let subject = entry.subject else { continue }
      defer { subject.discard() }
      guard !subject.isExcused else { continue }
      messages.append(
        (
          entry.site,
          subject.leftover
            ?? "The subscriber made here is still retained though its stream is over: something keeps it, a cycle or work "
            + "that is still pending."
        ))
    }
    // Only now: what the recorders above were subscribed to has been cancelled with them.
    if !hasFailed {
      for source in sources { if let leftover = source.leftover() { messages.append((source.site, leftover)) } }
    }
    if !isUnreadable { report(messages, note) }
    entries = []
    sources = []
  }

  private func report(_ messages: [(site: CallSite, text: String)], _ note: String) {
    var reported: Set<CallSite> = []
    for message in messages where reported.insert(message.site).inserted {
      let texts = messages.filter { $0.site == message.site }.map(\.text)
      message.site.fail(texts.joined(separator: "\n") + note)
    }
  }
}

/// Something a test can leave untidy.
protocol Auditable: AnyObject {
  /// What is left over, in a sentence or more; `nil` when nothing is.
  var leftover: String? { get }
  /// Whether a failure has been reported already that what is left over follows from.
  var isExcused: Bool { get }
  /// Ends what was to end with the test.
  func settle()
  /// Breaks what keeps it alive.
  func discard()
}
