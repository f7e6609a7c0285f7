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

  /// The entries without an http or https URL: how many there are, and the first ones, as the list has them.
  struct Unusable {
    private(set) var count = 0
    private(set) var first: [String] = []

    mutating func add(_ entry: String) {
      count += 1
      if first.count < 20 { first.append(entry) }
    }
  }

  /// The entries of a list without an http or https URL.
  static func unusable(in list: OPML) -> Unusable {
    var unusable = Unusable()
    for feed in list.unusableFeeds { unusable.add(feed.address ?? "") }
    return unusable
  }

  /// The lines that name the entries without an http or https URL; `nil` if there are none.
  static func skipped(_ entries: Unusable) -> String? {
    guard entries.count > 0 else { return nil }
    let names = entries.first.map { $0.withoutPossiblePassword.printable(limit: 200) }.joined(separator: ", ")
    let rest = entries.count - entries.first.count
    return
      (entries.count == 1
      ? "1 entry has no http or https URL and was skipped"
      : "\(entries.count) entries have no http or https URL and were skipped")
      + ": \(names)\(rest > 0 ? ", and \(rest) more" : "")\n"
  }

  /// The list, and its entries without an http or https URL.
  static func read(_ place: String) throws -> (list: OPML, unusable: Unusable) {
    if place == "-" || isStream(place) {
      guard let handle = place == "-" ? .standardInput : FileHandle(forReadingAtPath: place) else {
        throw ValidationError("\(place.printable) can't be read.")
      }
      let bytes = [UInt8](handle.readDataToEndOfFile())
      if let list = try? OPML(parsing: bytes) { return (list, unusable(in: list)) }
      let name = place == "-" ? "Standard input" : place.printable
      try checkIsNoFeed(bytes, name, isFile: false)
      guard let list = lines(of: bytes) else {
        throw ValidationError("\(name) isn't a list of feeds (OPML, or one URL per line).")
      }
      return list
    }
    do {
      let list = try SubscriptionFile.listUnlessText(at: place)
      return (list, unusable(in: list))
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
  static func lines(of bytes: [UInt8]) -> (list: OPML, unusable: Unusable)? {
    var (feeds, unusable): ([SubscribedFeed], Unusable) = ([], Unusable())
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard let text = url(in: line) else { continue }
      // A feed or a web page may have a URL on a line of its own.
      if feeds.isEmpty, unusable.count == 0, text.hasPrefix("<") { return nil }
      if let address = try? FeedAddress.parse(text, hintsAtFiles: false) {
        feeds.append(SubscribedFeed(address: address))
      } else {
        unusable.add(text)
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
