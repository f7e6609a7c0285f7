import Foundation
import ImageFeed
import PlainText

/// Reports on standard error when a feed starts and when it stops failing, because its saved copy hides the failure.
final class FailureWarnings {
  private let console: Console
  /// The failing feeds, and the time when their saved copies were saved; the distant past without one.
  private var failing: [URL: Date] = [:]

  init(on console: Console) { self.console = console }

  /// Records a result.
  ///
  /// - Parameter isTold: true if the caller reports a feed without a saved copy.
  func take(_ report: FeedReport, isTold: Bool = false) {
    switch report.result {
    case .failure(let error): began(error.remote, of: report.address, isTold: isTold)
    case .success(let feed):
      switch feed.source {
      // Another process has loaded the feed since it failed.
      case .cache(let savedAt, _, .notDue) where failing[report.address].map { $0 < savedAt } ?? false:
        ended(of: report.address)
      case .cache(let savedAt, _, let reason): began(reason, of: report.address, savedAt: savedAt)
      case .part(let reason): began(reason, of: report.address)
      case .remote: ended(of: report.address)
      }
    }
  }

  private func began(
    _ reason: RemoteFeedError, of address: URL, savedAt: Date = .distantPast, isTold: Bool = false
  ) {
    guard !reason.isWithoutRequest else { return }
    let known = failing[address]
    failing[address] = max(savedAt, known ?? savedAt)
    guard known == nil, !isTold else { return }
    console.warn("\(address.shown) can't be loaded: \(reason)")
  }

  private func ended(of address: URL) {
    if failing.removeValue(forKey: address) != nil { console.note("\(address.shown) is loaded again") }
  }
}
