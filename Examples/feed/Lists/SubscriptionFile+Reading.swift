import ArgumentParser
import FeedFormats
import ImageFeed
import PlainText

extension SubscriptionFile {
  /// The list in a file; if the file isn't a list, the error says what it is.
  static func list(at path: String) throws -> OPML {
    do {
      return try listUnlessText(at: path)
    } catch let error as SubscriptionFileError {
      // Another attempt would fail in the same way, so the argument is wrong.
      guard case .notAList(let place, _) = error else { throw error }
      let mayBeURLs = WrongPlaceAdvice.bytes(ofFile: place).map(ImportedList.beginsWithURL) == true
      let advice =
        " If it has one URL per line, \"feed subscriptions import \(place.printable)\" adds its feeds to your list."
      throw ValidationError("\(error)\(mayBeURLs ? advice : "")")
    }
  }

  /// The list in a file. The error is `SubscriptionFileError.notAList` only if the file isn't a feed or a web page, so
  /// that it may be a list of URLs.
  static func listUnlessText(at path: String) throws -> OPML {
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
    } catch SubscriptionFileError.notAList(let place, let reason) {
      if let bytes = WrongPlaceAdvice.bytes(ofFile: place) {
        try ImportedList.checkIsNoFeed(bytes, place.printable, isFile: true)
      }
      throw SubscriptionFileError.notAList(place, reason)
    }
  }
}
