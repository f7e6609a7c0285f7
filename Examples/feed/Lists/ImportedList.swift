import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// A list of feeds from another program, or written by hand.
enum ImportedList {
  static func reportCutOff(_ name: String) {
    StandardError.shared.write("\(name.printable) is cut off; feeds may be missing\n")
  }

  /// The line that tells how many feeds were added.
  static func result(_ added: Int, of total: Int) -> String {
    "Added \(added) of \(counted(total, "feed"))" + (added < total ? "; the others were already in the list\n" : "\n")
  }

  /// The line that tells how many entries without an http or https URL there were.
  static func skipped(_ count: Int) -> String {
    count == 1
      ? "1 entry has no http or https URL and was skipped\n"
      : "\(count) entries have no http or https URL and were skipped\n"
  }

  /// The list, and the number of its entries without an http or https URL.
  static func read(_ place: String) throws -> (list: OPML, unusable: Int) {
    if place == "-" || isStream(place) {
      guard let handle = place == "-" ? .standardInput : FileHandle(forReadingAtPath: place) else {
        throw ValidationError("\(place.printable) can't be read.")
      }
      let bytes = [UInt8](handle.readDataToEndOfFile())
      if let list = try? OPML(parsing: bytes) { return (list, list.unusableFeeds) }
      let name = place == "-" ? "Standard input" : place.printable
      try checkIsNoFeed(bytes, name, isFile: false)
      guard let list = lines(of: bytes) else {
        throw ValidationError("\(name) isn't a list of feeds (OPML, or one URL per line).")
      }
      return list
    }
    do {
      let list = try SubscriptionFile.listUnlessText(at: place)
      return (list, list.unusableFeeds)
    } catch let error as SubscriptionFileError {
      guard case .notAList = error else { throw error }
      guard let data = FileManager.default.contents(atPath: place), let list = lines(of: [UInt8](data)) else {
        throw ValidationError("\(error)")
      }
      return list
    }
  }

  /// Throws an error for a feed or a web page, which may have URLs on lines of their own, even after a line of text.
  ///
  /// - Parameter isFile: false if the bytes can't be read again.
  static func checkIsNoFeed(_ bytes: [UInt8], _ name: String, isFile: Bool) throws {
    switch Result(catching: { () throws(FeedFormatError) in try FeedParser.document(of: bytes) }) {
    case .success(let feed):
      let advice = isFile ? "\"feed inspect \(name)\" shows its content; to" : "To"
      throw ValidationError(
        "\(name) is a feed (\(feed.format.rawValue)), not a list of feeds (OPML). \(advice) load a feed, pass its URL "
          + "to \"feed load\".")
    case .failure(.webPage): throw ValidationError("\(SubscriptionFileError.notAList(name, .webPage))")
    case .failure: break
    }
  }

  /// True for a pipe or a device, whose bytes can be read only once.
  static func isStream(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  /// The feeds in a file with one URL per line; `nil` if it contains none.
  static func lines(of bytes: [UInt8]) -> (list: OPML, unusable: Int)? {
    var (feeds, unusable): ([SubscribedFeed], Int) = ([], 0)
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard let text = url(in: line) else { continue }
      // A feed or a web page may have a URL on a line of its own.
      if feeds.isEmpty, unusable == 0, text.hasPrefix("<") { return nil }
      if let address = try? FeedAddress.parse(text, hintsAtFiles: false) {
        feeds.append(SubscribedFeed(address: address))
      } else {
        unusable += 1
      }
    }
    var list = OPML()
    return list.add(feeds) == 0 ? nil : (list, unusable)
  }

  /// True if the first line that isn't empty or a comment begins with a URL. Such a text may have one URL per line.
  static func beginsWithURL(_ bytes: [UInt8]) -> Bool {
    let lines = String(decoding: bytes.prefix(65_536), as: UTF8.self).split(whereSeparator: \.isNewline)
    let first = lines.lazy.compactMap { url(in: $0) }.first
    return first.flatMap { try? FeedAddress.parse($0, hintsAtFiles: false) } != nil
  }

  /// The first word of a line; `nil` if the line is empty or a comment.
  static func url(in line: some StringProtocol) -> String? {
    // Some editors write a byte order mark at the beginning of a file.
    let text = line.trimmingCharacters(in: CharacterSet.whitespaces.union(["\u{FEFF}"]))
    guard !text.hasPrefix("#") else { return nil }
    return text.split(whereSeparator: \.isWhitespace).first.map(String.init)
  }
}
