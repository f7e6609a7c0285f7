import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Shows the state of a running watch on a terminal: which servers are unreachable and since when, the current
/// activity, and the time until the next check.
final class WatchStatus {
  /// A feed that can't be loaded from its server.
  struct FailingFeed: Equatable {
    var name: String
    var since: Date
    /// True if no response arrives; false if the response isn't a feed.
    var isSilent: Bool
  }

  private let console: Console
  /// The feeds that are being requested.
  private var requested: Set<URL> = []
  private var checked: Date?
  private var failing: [URL: FailingFeed] = [:]
  /// The feeds to show the state of.
  var addresses: Set<URL> {
    didSet {
      failing = failing.filter { addresses.contains($0.key) }
      show()
    }
  }
  private var progress: PollingProgress?
  /// True if other processes make the requests.
  private let isFollowing: Bool

  init(of addresses: [URL], following isFollowing: Bool = false, on session: Session) {
    self.isFollowing = isFollowing
    self.addresses = Set(addresses)
    console = session.console
    guard console.showsStatus else { return }
    let (loop, second) = (session.loop, StreamInstant.Stride.seconds(1))
    session.keep(
      loop.schedule(after: loop.now.advanced(by: second), interval: second, tolerance: .zero, options: nil) {
        [weak self] in self?.show(isTick: true)
      })
  }

  /// The observer for one feed's requests; `nil` if no status line is shown.
  func observer(of address: URL) -> RequestObserver? {
    guard console.showsStatus else { return nil }
    return RequestObserver { [self] in
      requestBegan(address)
    } requestEnded: { [self] in
      requestEnded(address)
    }
  }

  /// Records the poller's progress.
  func take(_ progress: PollingProgress) {
    self.progress = progress
    show()
  }

  /// Records the result of a load.
  func take(_ report: FeedReport) {
    // The feed may have left the list since it was loaded.
    guard addresses.contains(report.address) else { return }
    let reason: RemoteFeedError? =
      switch report.result {
      case .failure(let error): error.remote
      case .success(let feed):
        switch feed.source {
        case .remote: nil
        case .cache(_, _, let reason), .part(let reason): reason
        }
      }
    if case .notAsked? = reason {
      checked = Date()
    } else if case .notDue? = reason {
      // There was no request, so there is no sign that the server is failing.
    } else if let reason {
      let isSilent = if case .connectivity = reason { true } else { false }
      let since = failing[report.address]?.since ?? Date()
      failing[report.address] = FailingFeed(
        name: report.address.host ?? report.address.shown, since: since, isSilent: isSilent)
    } else {
      failing[report.address] = nil
    }
    show()
  }

  private func requestBegan(_ address: URL) {
    requested.insert(address)
    show()
  }

  private func requestEnded(_ address: URL) {
    requested.remove(address)
    checked = Date()
    show()
  }

  /// Shows the status line. With many feeds, it is updated only once a second, because examining all of them takes
  /// time.
  private func show(isTick: Bool = false) {
    guard console.showsStatus, isTick || addresses.count <= 100 else { return }
    if isFollowing {
      return console.setStatus("following" + (checked.map { "; last change seen \($0.timeOfDay)" } ?? ""))
    }
    let text = Self.text(
      isChecking: !requested.isEmpty, checked: checked,
      wait: progress?.next.map { Duration.seconds(max(0, $0.timeIntervalSinceNow)) })
    let failing = failing.values.sorted { $0.since < $1.since }
    console.setStatus(Self.text(of: progress) + Self.text(of: failing, among: addresses.count) + text)
  }

  /// The beginning of the status line for several feeds: the numbers of due, running and failing feeds.
  static func text(of progress: PollingProgress?) -> String {
    guard let progress, progress.feeds > 1 else { return "" }
    return "\(progress.due) due, \(progress.running) running, \(progress.failing) failing; "
  }

  /// The text of the status line.
  static func text(isChecking: Bool, checked: Date?, wait: Duration?) -> String {
    let next = wait.map { "next in \(countdown($0))" }
    guard let checked else { return isChecking ? "checking…" : next ?? "checking…" }
    return ["checked \(checked.timeOfDay)", isChecking ? "checking again…" : next].compactMap { $0 }
      .joined(separator: ", ")
  }

  /// The beginning of the status line: the feeds that are failing, and since when.
  static func text(of failing: [FailingFeed], among count: Int, now: Date = Date()) -> String {
    guard let first = failing.first else { return "" }
    let since = now.timeIntervalSince(first.since) < 86_400 ? first.since.timeOfDay : first.since.dayAndTime
    let state = first.isSilent ? "has been unreachable" : "hasn't sent a valid feed"
    let one = "\(first.name.printable(limit: 60)) \(state) since \(since)"
    return (count > 1 ? "\(failing.count) of \(count) feeds failing; \(one)" : one) + "; "
  }

  /// Hours, minutes and seconds, rounded up, so that a countdown that shows 0s is over.
  static func countdown(_ wait: Duration) -> String {
    let (whole, fraction) = wait.components
    let seconds = whole + (fraction > 0 ? 1 : 0)
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
    let shown = parts.drop { $0.0 == 0 }
    return shown.isEmpty ? "0s" : shown.map { "\($0.0)\($0.1)" }.joined()
  }
}
