/// The section that explains a subscriber or a subscription that is retained after the end of its stream.
let retainedSection = "docs/Troubleshooting.md#a-subscriber-is-still-retained"

/// The advice for a stream that is still live although no work is left in virtual time.
let outsideAdvice = """
  If it waits for a DispatchQueue, a RunLoop, an EventLoop, or a task that sleeps on a real clock, pass it the \
  VirtualTimeScheduler instead. A promise's Task { } runs outside virtual time; write Future { await … }.
  """

/// Checks that a test has cleaned up by its end.
final class Audit {
  /// An object that may have leftovers, and the line where it was made.
  final class Entry {
    fileprivate weak var subject: (any Auditable)?
    /// The subject, if it must live until the end.
    private var kept: (any Auditable)?
    fileprivate let site: CallSite
    /// The leftovers that the subject had when it was deallocated.
    fileprivate(set) var legacy: String?

    fileprivate init(_ subject: any Auditable, _ site: CallSite) {
      self.subject = subject
      self.site = site
    }

    /// Retains the subject until the end of the test.
    func keep() { kept = subject }
    fileprivate func letGo() { kept = nil }

    /// Records the subject's leftovers when the subject is deallocated.
    func bequeath(_ leftover: String?) { legacy = leftover }
  }

  /// True while `withVirtualTime` runs, which lets go of the subjects at its end.
  private(set) var isAwaited = false
  /// True at the end of a test that left no work in virtual time: a live stream then waits for something else.
  private(set) var isIdle = false
  private var entries: [Entry] = []
  private var sources: [(leftover: () -> String?, site: CallSite)] = []
  /// True when an expectation has failed: leftover work is then a consequence.
  private(set) var hasFailed = false
  /// True when a diagram could not be read: other differences are then a consequence.
  private(set) var isUnreadable = false
  /// The lines that have been reported because an event arrived in another scheduler's time.
  private var mistimed: Set<CallSite> = []

  func add(_ subject: any Auditable, _ site: CallSite) -> Entry {
    let entry = Entry(subject, site)
    entries.append(entry)
    return entry
  }

  /// Watches a source that was made at `site`.
  ///
  /// - Parameter leftover: returns a sentence that names the leftovers, or `nil` if there are none.
  func add(_ site: CallSite, leftover: @escaping () -> String?) { sources.append((leftover, site)) }

  /// Runs a test, whose subjects may be retained until it ends.
  func begin() { isAwaited = true }

  /// Called when the test has ended or has thrown an error.
  func end() {
    isAwaited = false
    for entry in entries { entry.letGo() }
  }

  /// Records that a failed expectation has been reported.
  func noteFailure() { hasFailed = true }

  /// Records that an unreadable diagram has been reported.
  func noteUnreadable() {
    hasFailed = true
    isUnreadable = true
  }

  /// Records that a recorder made at `site` received an event in another scheduler's time.
  ///
  /// - Returns: true if the line must be reported.
  func noteMistimed(_ site: CallSite) -> Bool { mistimed.insert(site).inserted }

  /// Fails the test for all leftovers, once per line where objects were made.
  ///
  /// - Parameters:
  ///   - isIdle: true if time has been advanced, and no work is left.
  ///   - note: added to each message.
  func close(isIdle: Bool, note: String) {
    self.isIdle = isIdle
    var messages: [(site: CallSite, text: String)] = []
    // In reverse order, because a recorder of streams may end these streams when it is cancelled.
    for entry in entries.reversed() {
      entry.subject?.settle()
      entry.letGo()
    }
    for entry in entries {
      if let legacy = entry.legacy { messages.append((entry.site, legacy)) }
      guard let subject = entry.subject else { continue }
      defer { subject.discard() }
      guard !subject.isExcused else { continue }
      messages.append(
        (
          entry.site,
          subject.leftover
            ?? "The subscriber created here is still retained, although its stream is over: a retain cycle or pending work "
            + "keeps it alive (\(retainedSection))."
        ))
    }
    // Check sources only now: cancelling the recorders above has also cancelled their publishers.
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

/// An object that may have leftovers.
protocol Auditable: AnyObject {
  /// The leftovers, as one or more sentences; `nil` if there are none.
  var leftover: String? { get }
  /// True if the leftovers follow from a failure that has already been reported.
  var isExcused: Bool { get }
  /// Ends everything that should end with the test.
  func settle()
  /// Breaks the retain cycles that keep the object alive.
  func discard()
}
