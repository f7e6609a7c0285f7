import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Shows the state of a running watch on a terminal: which feeds or hosts are failing and since when, the current
/// activity, and the time until the next check.
final class WatchStatus {
  /// A feed that can't be loaded from its server, or a host with such feeds only.
  struct Failing: Equatable {
    var name: String
    var since: Date
    /// True if no response arrives; false if the response isn't a feed.
    var isSilent: Bool
  }

  private let console: Console
  /// The feeds that are being requested.
  private var requested: Set<URL> = []
  private var checked: Date?
  private var failing: [URL: Failing] = [:]
  private let names: FeedNames
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

  init(of addresses: [URL], named names: FeedNames, following isFollowing: Bool = false, on session: Session) {
    self.isFollowing = isFollowing
    self.names = names
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
        // After a failure, the poller delivers such a copy when another process has loaded the feed.
        case .remote, .cache(_, _, .notDue): nil
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
      failing[report.address] = Failing(
        name: names[report.address] ?? report.address.shown, since: since, isSilent: isSilent)
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
    let longest = Self.longest(of: failing, among: addresses)
    console.setStatus(Self.text(of: progress) + (longest.map { Self.text(of: $0) } ?? "") + text)
  }

  /// The feed that has been failing the longest; instead, its host, if all of the host's feeds fail.
  static func longest(of failing: [URL: Failing], among addresses: Set<URL>) -> Failing? {
    guard let first = failing.min(by: { $0.value.since < $1.value.since }) else { return nil }
    let host = first.key.pollingHost
    let feeds = addresses.filter { $0.pollingHost == host }
    let states = feeds.compactMap { failing[$0] }
    guard states.count == feeds.count, let since = states.map(\.since).max() else { return first.value }
    return Failing(name: host, since: since, isSilent: states.allSatisfy(\.isSilent))
  }

  /// The beginning of the status line for several feeds: the numbers of due, running and failing feeds.
  static func text(of progress: PollingProgress?) -> String {
    guard let progress, progress.feeds > 1 else { return "" }
    let counts = [(progress.due, "due"), (progress.running, "running"), (progress.failing, "failing")]
    let shown = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return shown.isEmpty ? "" : shown.joined(separator: ", ") + "; "
  }

  /// The text of the status line.
  static func text(isChecking: Bool, checked: Date?, wait: Duration?) -> String {
    let next = wait.map { "next in \(countdown($0))" }
    guard let checked else { return isChecking ? "checking…" : next ?? "checking…" }
    return ["checked \(checked.timeOfDay)", isChecking ? "checking again…" : next].compactMap { $0 }
      .joined(separator: ", ")
  }

  /// The part of the status line about a failure: what is failing, and since when.
  static func text(of failing: Failing, now: Date = Date()) -> String {
    let since = now.timeIntervalSince(failing.since) < 86_400 ? failing.since.timeOfDay : failing.since.dayAndTime
    let state = failing.isSilent ? "has been unreachable" : "hasn't sent a valid feed"
    return "\(failing.name.printable(limit: 60)) \(state) since \(since); "
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
