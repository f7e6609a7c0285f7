import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// The content of a document: the items of a feed, or the feeds that a web page links to.
enum Inspection {
  case feed(FeedDocument, ids: [String])
  case page([FeedLink])

  init(of document: WebDocument) throws(InspectionError) {
    let links = document.isWebPage ? document.feedLinks : []
    guard links.isEmpty else {
      self = .page(links)
      return
    }
    do throws(InvalidData) {
      let feed = try SyndicationFormat().document(in: document, within: FeedLimits())
      self = .feed(feed, ids: feed.imageIDs(in: document.feed ?? document.url).map { "\($0)" })
    } catch {
      throw .document(error, file: document.url.isFileURL ? document.url.path : nil)
    }
  }

  /// One line of JSON, without anything that a terminal interprets.
  var json: String {
    switch self {
    case .feed(let feed, let ids): FeedJSON.harmless(feed.inspection { _, index in ids[index] }) + "\n"
    case .page(let links): "{\"format\":\"web page\",\"feeds\":[\(links.map(Self.object).joined(separator: ","))]}\n"
    }
  }

  private static func object(_ link: FeedLink) -> String {
    let title = link.title.map { ",\"title\":\(FeedJSON.quoted($0))" } ?? ""
    let address = FeedJSON.quoted(link.addressWithoutUser)
    return "{\"url\":\(address)\(title),\"type\":\(FeedJSON.quoted(link.type))}"
  }
}

extension Inspection {
  func text(_ style: Style) -> String {
    switch self {
    case .page(let links):
      "A web page that links to \(links.count == 1 ? "a feed" : "\(links.count) feeds"):\n"
        + links.map { link in
          "  \(link.addressWithoutUser.printable)\(link.title.map { "  \($0.printable)" } ?? "")"
            + "  \(link.type.printable)\n"
        }
        .joined()
    case .feed(let feed, let ids):
      head(of: feed, style)
        + zip(feed.items, ids).enumerated().map { "\n" + entry($0 + 1, $1.0, $1.1, style) }.joined()
    }
  }

  private func head(of feed: FeedDocument, _ style: Style) -> String {
    let imageCount = feed.items.count { $0.image != nil }
    var text = "\(style.bold("\(feed.format.rawValue)")), \(feed.encoding.printable)\n"
    if let title = feed.title?.plain { text += "title     \(title.printable)\n" }
    if let link = feed.link { text += "link      \(link.printable)\n" }
    if let next = feed.next { text += "next      \(next.printable)\n" }
    for repair in feed.repairs { text += "\(style.warning("repaired"))  \(repair.printable)\n" }
    return text + "items     \(feed.items.count), \(imageCount) with an image\n"
  }

  private func entry(_ number: Int, _ item: FeedItem, _ id: String, _ style: Style) -> String {
    var text = "\(number). \(style.bold((item.plainDescription ?? "(no text)").printable(limit: 200)))\n"
    func line(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      text += "   \(name.padding(toLength: 10, withPad: " ", startingAt: 0))\(value.printable(limit: 300))\n"
    }
    line("id", id)
    line("guid", item.guid)
    line("link", item.link)
    line("published", (item.published ?? item.updated)?.description)
    line("place", item.location?.text)
    if item.images.isEmpty { line("image", "none: neither the item nor its text refers to an image") }
    for (index, image) in item.images.enumerated() {
      let size = image.width.map { width in ", \(width)\(image.height.map { "×\($0)" } ?? "") pixels" } ?? ""
      let type = image.type.map { ", \($0)" } ?? ""
      let isShown = index == item.chosenImage
      text += "   \(index == 0 ? "images  " : "        ")  \(isShown ? style.good("shown") : " also"): "
      text +=
        "\(image.address.printable(limit: 300)) (\(image.source.rawValue)\((size + type).printable(limit: 100)))\n"
    }
    return text
  }
}
