import Foundation
import ImageFeed

/// Feeds and failures in the form that the user asked for.
struct FeedScreen: Sendable {
  private let format: OutputFormat
  private let feedText: FeedText
  private let errorStyle: Style
  private let isRepeated: Bool

  /// - Parameter isRepeated: true when there may be several, which their time distinguishes.
  init(_ options: LoadOptions, on session: Session, isRepeated: Bool = false) {
    format = options.format
    feedText = FeedText(address: options.address, style: session.outputStyle)
    errorStyle = session.console.style
    self.isRepeated = isRepeated
  }

  /// For standard output.
  func text(of feed: Feed) -> String {
    switch format {
    case .text: entry(feedText.text(of: feed))
    case .json: FeedJSON.line(feed)
    }
  }

  /// For standard error.
  func text(of failure: NothingToShow) -> String { entry(failure.text(errorStyle)) }

  private func entry(_ text: String) -> String { isRepeated ? "[\(Date().timeOfDay)] \(text)\n" : text }
}
