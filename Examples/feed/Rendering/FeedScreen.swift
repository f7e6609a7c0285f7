import Foundation
import ImageFeed

/// Feeds and failures in the form that the user asked for.
struct FeedScreen {
  private let format: OutputFormat
  private let feedText: FeedText
  private let errorStyle: Style
  /// What a headline begins with.
  private let prefix: () -> String

  init(_ options: LoadOptions, on session: Session, prefix: @escaping () -> String = { "" }) {
    format = options.format
    feedText = FeedText(address: options.address, style: session.outputStyle)
    errorStyle = session.console.style
    self.prefix = prefix
  }

  /// For standard output.
  func text(of feed: Feed) -> String {
    switch format {
    case .text: prefix() + feedText.text(of: feed)
    case .json: FeedJSON.line(feed)
    }
  }

  /// For standard error.
  func text(of failure: NothingToShow) -> String { prefix() + failure.text(errorStyle) }
}
