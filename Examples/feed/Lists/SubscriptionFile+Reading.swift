import ArgumentParser
import FeedFormats
import ImageFeed
import PlainText

extension SubscriptionFile {
  /// The list in a file; if the file isn't a list, the error says what it is.
  static func list(at path: String) throws -> OPML {
    if path.contains("://") {
      throw ValidationError(
        "A list of feeds must be a file, but \(path) is a URL. Download the list first. For a feed, run "
          + "\"feed load <url>\" or \"feed subscriptions add <url>\".")
    }
    do {
      guard let list = try SubscriptionFile(path: path).read() else {
        throw ValidationError("There is no file \(path).")
      }
      return list
    } catch let error as SubscriptionFileError {
      // Another attempt would fail in the same way, so the argument is wrong.
      guard case .notAList(let place, let reason) = error else { throw error }
      let shown = place.printable
      guard let bytes = WrongPlaceAdvice.bytes(ofFile: place) else { throw ValidationError("\(error)") }
      if reason == .notAFeed {
        switch Result(catching: { () throws(FeedFormatError) in try FeedParser.document(of: bytes) }) {
        case .success(let feed):
          throw ValidationError(
            "\(shown) is a feed (\(feed.format.rawValue)), not a list of feeds (OPML). \"feed inspect \(shown)\" shows "
              + "its content; to load a feed, pass its URL to \"feed load\".")
        case .failure(.webPage): throw ValidationError("\(SubscriptionFileError.notAList(shown, .webPage))")
        case .failure: break
        }
      }
      if ImportedList.lines(of: bytes) != nil {
        throw ValidationError(
          "\(shown) has one URL per line, so it isn't a list of feeds (OPML). \"feed subscriptions import \(shown)\" "
            + "adds its feeds to your list.")
      }
      throw ValidationError("\(error)")
    }
  }
}
