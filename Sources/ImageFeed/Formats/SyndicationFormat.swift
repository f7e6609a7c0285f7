public import FeedFormats
import FeedHTTP
import FeedStream
public import Foundation

/// The formats of the web's feeds: RSS 0.90 to 2.0, Atom 0.3 and 1.0, JSON Feed 1 and 1.1, with Media RSS, iTunes and
/// everything else that `FeedParser` reads.
///
/// Each item with an image is an image of the feed: the first of its images in the order of
/// `FeedImageCandidate.Source`. Items without an image are counted (``FeedImages/omittedItems``). An image is
/// identified by its item's guid or Atom id, else by its item's link, else by its own URL. If several items share
/// these, each is identified by its date, title or image as well (`FeedDocument.imageIDs(in:)`).
public struct SyndicationFormat: FeedFormat {
  public init() {}

  /// Always true: this format comes last, and reports the error in a document that isn't a feed.
  public func recognizes(_ document: WebDocument) -> Bool { true }

  /// Reads XML as it arrives; JSON is read when it is complete.
  public func reader(of beginning: WebDocument, within limits: FeedLimits) -> (any FeedReader)? {
    beginning.isJSON ? nil : Reader(beginning, within: limits)
  }

  public func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
    try self.document(in: document, within: limits).wholeImages(of: document.feed ?? document.url, at: document.url)
  }

  /// The feed in a document, with all fields of its items; for a document that is cut off, the part that arrived
  /// (`FeedDocument.isCutOff`).
  public func document(in document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedDocument {
    do throws(FeedFormatError) {
      var parser = document.parser(within: limits)
      try parser.feed([UInt8](document.body))
      return try parser.finish()
    } catch {
      throw InvalidData(error)
    }
  }

  private struct Reader: FeedReader {
    private var parser: FeedParser
    private let feed, url: URL

    init(_ beginning: WebDocument, within limits: FeedLimits) {
      parser = beginning.parser(within: limits)
      (feed, url) = (beginning.feed ?? beginning.url, beginning.url)
    }

    mutating func read(_ bytes: Chunk) throws(InvalidData) {
      do throws(FeedFormatError) {
        try bytes.withUnsafeBytes { bytes throws(FeedFormatError) in try parser.feed(bytes) }
      } catch {
        throw InvalidData(error)
      }
    }

    mutating func finish() throws(InvalidData) -> FeedImages {
      let document: FeedDocument
      do throws(FeedFormatError) {
        document = try parser.finish()
      } catch {
        throw InvalidData(error)
      }
      return try document.wholeImages(of: feed, at: url)
    }
  }
}

extension WebDocument {
  fileprivate func parser(within limits: FeedLimits) -> FeedParser {
    // The URLs in the document are shown, and sent to others, so they must not contain the user's password.
    FeedParser(address: url.withoutUser.absoluteString, charset: charset, limits: limits)
  }
}

extension FeedImages {
  /// The image of each item that has one.
  ///
  /// - Parameters:
  ///   - feed: the URL under which the feed is saved.
  ///   - url: the URL that the document comes from.
  init(_ document: FeedDocument, of feed: URL, at url: URL) {
    var builder = Builder(count: document.items.count)
    builder.next = document.next.flatMap { URL(string: $0) }
      .map { $0.hasSameOrigin(as: url) ? $0.withoutUser.keepingUser(of: url) : $0.withoutUser }
    builder.title = document.title.map(\.plain).flatMap { $0.hasVisibleCharacter ? $0 : nil }
    for (item, id) in Swift.zip(document.items, document.imageIDs(in: feed)) {
      let images = item.distinctImages
      let address = images.first.flatMap { WebAddress($0.address) }
      guard let shown = address ?? item.link.flatMap({ WebAddress($0) }) else {
        builder.omit(nil)
        continue
      }
      let description = document.format == .caseStudy ? item.summary?.value : item.plainDescription
      let image = FeedImage(
        id: id, description: description, location: item.location?.text, address: shown,
        published: (item.published ?? item.updated)?.secondsSince1970,
        post: document.format == .caseStudy ? FeedImage.Post() : FeedImage.Post(item, images))
      if address != nil { builder.append(image) } else { builder.omit(image) }
    }
    builder.polling = document.polling
    self = builder.finish()
  }
}

extension FeedImage.Post {
  /// The fields of an item, and all of its images without duplicates.
  fileprivate init(_ item: FeedItem, _ images: [FeedImageCandidate]) {
    var images = images.map { Image(url: $0.address, alt: $0.alt) }
    let alt = item.plainAlt
    if images.count > 1 { images[0].alt = images[0].alt ?? alt }
    self.init(
      title: item.plainTitle, text: item.plainText, alt: alt, linkText: item.link,
      images: images.count > 1 ? images : [])
  }
}

extension FeedDocument {
  /// The image of each item that has one.
  ///
  /// - Throws: ``InvalidData/cutOff(_:)`` when the end is missing.
  fileprivate func wholeImages(of feed: URL, at url: URL) throws(InvalidData) -> FeedImages {
    let images = FeedImages(self, of: feed, at: url)
    guard isCutOff else { return images }
    throw .cutOff(images)
  }

  /// The id of each item, from its guid, or else its link, or else the URL of its chosen image.
  ///
  /// If different items share a guid, link or image, the id of each also depends on the first of these that the item
  /// has: its date, its title, its image's URL without the query, and with the query. If some ids are still the same,
  /// the next of these is added to them. So an id stays the same when other items arrive, leave or are edited, unless
  /// they have the same date or title. A date that all of them have, such as the time of the request, isn't used. Items
  /// that are the same in all of these are numbered. Essential Feed JSON keeps repeated ids.
  ///
  /// - Parameter feed: the URL under which the feed is saved, which stays the same whatever it redirects to.
  public func imageIDs(in feed: URL) -> [FeedImage.ID] {
    var ids = items.map { FeedImage.ID(name: $0.name(withDetails: 0), in: feed) }
    guard format != .caseStudy else { return ids }
    var datesDiffer: Set<Int> = []
    for count in 1...FeedItem.mostDetails {
      var last: [UUID: Int] = [:]
      var shared: Set<UUID> = []
      for (index, id) in ids.enumerated() {
        if let other = last.updateValue(index, forKey: id.uuid), items[index].differs(from: items[other]) {
          shared.insert(id.uuid)
        }
      }
      guard last.count < ids.count else { return ids }
      if count == 1 { datesDiffer = itemsWithDifferentDates(sharing: ids) }
      for index in ids.indices where shared.contains(ids[index].uuid) {
        let name = items[index].name(withDetails: count, usesDate: datesDiffer.contains(index))
        ids[index] = FeedImage.ID(name: name, in: feed)
      }
    }
    var counts: [UUID: UInt32] = [:]
    return ids.map { id in
      let number = counts[id.uuid, default: 0] + 1
      counts[id.uuid] = number
      return FeedImage.ID(id.uuid, number: number)
    }
  }

  /// The positions of the items that share an id with an item of another date.
  private func itemsWithDifferentDates(sharing ids: [FeedImage.ID]) -> Set<Int> {
    var first: [UUID: Int] = [:]
    var different: Set<UUID> = []
    for (index, id) in ids.enumerated() {
      guard let other = first[id.uuid] else {
        first[id.uuid] = index
        continue
      }
      if items[index].published?.secondsSince1970 != items[other].published?.secondsSince1970 {
        different.insert(id.uuid)
      }
    }
    return different.isEmpty ? [] : Set(ids.indices.filter { different.contains(ids[$0].uuid) })
  }
}

extension FeedItem {
  fileprivate static let mostDetails = 4

  /// The text that identifies the item in its document, with the first `count` of the details that the item has.
  fileprivate func name(withDetails count: Int, usesDate: Bool = false) -> String {
    let name = [guid, link, image?.address].lazy.compactMap { $0 }.first { !$0.isEmpty } ?? ""
    guard count > 0 else { return name }
    // Titles are edited more often than dates. The URLs of some images change each time a feed is loaded.
    let date = usesDate ? published.map { "\($0.secondsSince1970)" } : nil
    let details = [date, title?.value, imageWithoutQuery, image?.address].compactMap { $0 }.filter { !$0.isEmpty }
    return ([name] + details.prefix(count)).joined(separator: "\n")
  }

  /// True if any detail of the items differs.
  fileprivate func differs(from other: FeedItem) -> Bool {
    published?.secondsSince1970 != other.published?.secondsSince1970 || title?.value != other.title?.value
      || image?.address != other.image?.address
  }

  fileprivate var imageWithoutQuery: String {
    let address = image?.address ?? ""
    return String(address[..<(address.utf8.firstIndex(of: UInt8(ascii: "?")) ?? address.endIndex)])
  }
}

extension InvalidData {
  init(_ error: FeedFormatError) {
    self =
      switch error {
      case .empty: .empty
      case .notAFeed: .notAFeed
      case .webPage: .webPage
      case .listOfFeeds: .listOfFeeds
      case .notJSON(let detail): .notJSON(detail)
      case .wrongShape(let place, let detail): .wrongShape(at: place, detail)
      case .imageAddress(let item, let address): .imageAddress(item: item, address)
      case .tooManyValues(let limit): .tooManyValues(limit: limit)
      case .documentTooLong(let limit): .tooMuch(of: "bytes", limit: limit)
      case .tooDeep(let limit): .tooMuch(of: "levels of nesting", limit: limit)
      case .tagTooLong(let limit): .tooMuch(of: "bytes in a tag", limit: limit)
      case .tooManyAttributes(let limit): .tooMuch(of: "attributes in a tag", limit: limit)
      case .nameTooLong(let limit): .tooMuch(of: "bytes in a name", limit: limit)
      case .doctypeTooLong(let limit): .tooMuch(of: "bytes in its document type declaration", limit: limit)
      case .textTooLong(let limit): .tooMuch(of: "bytes in one piece of text", limit: limit)
      case .tooManyItems(let limit): .tooMuch(of: "items", limit: limit)
      case .addressesTooLong(let limit): .tooMuch(of: "bytes in the URLs of items and images", limit: limit)
      }
  }
}
