import Foundation
import ImageFeed
import PlainText

/// Reports on standard error when a feed starts and when it stops failing, because its saved copy hides the failure.
final class FailureWarnings {
  private let console: Console
  private var failing: Set<URL> = []

  init(on console: Console) { self.console = console }

  /// Records a result.
  ///
  /// - Parameter isTold: true if the caller reports a feed without a saved copy.
  func take(_ report: FeedReport, isTold: Bool = false) {
    switch report.result {
    case .failure(let error): began(error.remote, of: report.address, isTold: isTold)
    case .success(let feed):
      switch feed.source {
      case .cache(_, _, let reason), .part(let reason): began(reason, of: report.address)
      case .remote:
        if failing.remove(report.address) != nil { console.note("\(report.address.shown) is loaded again") }
      }
    }
  }

  private func began(_ reason: RemoteFeedError, of address: URL, isTold: Bool = false) {
    guard !reason.isWithoutRequest, failing.insert(address).inserted, !isTold else { return }
    console.warn("\(address.shown) can't be loaded: \(reason)")
  }
}
