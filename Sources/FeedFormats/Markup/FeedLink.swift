/// A feed that a web page links to.
public struct FeedLink: Hashable, Sendable {
  /// An absolute http or https URL.
  public var address: String
  public var title: String?
  /// The media type, in lower case.
  public var type: String

  public init(address: String, title: String? = nil, type: String) {
    self.address = address
    self.title = title
    self.type = type
  }

  /// The feeds that the first megabyte of a page links to with `<link rel="alternate">` or `rel="feed"`, in page order,
  /// each only once; at most 1,000.
  ///
  /// - Parameter address: the page's final URL, which relative URLs are resolved against unless there is a `<base>`.
  public static func links(inPage html: [UInt8], address: String?) -> [FeedLink] {
    html.withUnsafeBufferPointer { html in
      var links = PageLinks(html.part(0, min(html.count, 1 << 20)), address: address)
      return links.all()
    }
  }
}

extension FeedLink {
  /// True for a feed of the comments on a site or a post, according to its URL or title: WordPress adds one to each
  /// feed of posts.
  public var isOfComments: Bool {
    let address = self.address.lowercased()
    if address.contains("/comments/") || address.contains("feed=comments") { return true }
    let title = (title ?? "").lowercased()
    return ["comment", "komment", "coment", "reacties", "комментари", "コメント"].contains { title.contains($0) }
  }

  /// True for the bytes of a web page: the root element of HTML comes before that of any feed.
  public static func isPage(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      let head = bytes.part(0, min(bytes.count, 4096))
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      guard head.first(where: { !$0.isSpace && !mark.contains($0) }) == UInt8(ascii: "<") else { return false }
      var index = 0
      while let start = head.firstIndex(of: UInt8(ascii: "<"), from: index, to: head.count) {
        index = start + 1
        if head.starts(with: "<!--", at: start) {
          guard let end = head.part(start, head.count).firstRange(of: "-->") else { return false }
          index = start + end + 3
        } else if ["html", "head", "body", "meta", "title", "!doctype html"].contains(where: {
          head.startsIgnoringCase(with: $0, at: index)
        }) {
          return true
        } else if index < head.count, head[index] != UInt8(ascii: "!"), head[index] != UInt8(ascii: "?") {
          return false
        }
      }
      return false
    }
  }
}

/// Reads the `<link>` elements of a page.
private struct PageLinks {
  private var elements: PageElements
  private var base: String?
  private var links: [FeedLink] = []
  private var known: Set<String> = []
  private static let most = 1000

  init(_ html: Bytes, address: String?) {
    elements = PageElements(html, named: ["link", "base"])
    base = baseAddress(address)
  }

  mutating func all() -> [FeedLink] {
    while links.count < Self.most, let name = elements.next() {
      if name == "base" { base = baseAddress(elements.address("href", base: base)) ?? base } else { take() }
    }
    return links
  }

  private mutating func take() {
    let tag = elements.tag
    let relations = tag.value("rel")?.lowercased().split(whereSeparator: \.isWhitespace) ?? []
    let type = tag.value("type")?.lowercased().split(separator: ";").first.map { $0.filter { !$0.isWhitespace } } ?? ""
    let isFeed = relations.contains("feed")
    guard isFeed || relations.contains("alternate"), let address = elements.address("href", base: base),
      isFeed || Self.isFeed(type, address), known.insert(address).inserted
    else { return }
    let title = tag.value("title").map(plainLine)
    links.append(FeedLink(address: address, title: title?.isEmpty == true ? nil : title, type: type))
  }

  /// True for the media type of a feed. For general types, such as `application/json` and `text/xml`, the URL decides.
  private static func isFeed(_ type: String, _ address: String) -> Bool {
    func mentions(_ words: [String]) -> Bool { words.contains(where: address.lowercased().contains) }
    return switch type {
    case "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json": true
    case "application/x-rss+xml", "application/x.atom+xml", "application/x-atom+xml", "text/rss+xml": true
    case "application/json": mentions(["feed"])
    case "text/xml", "application/xml": mentions(["feed", "rss", "atom", "rdf"])
    default: false
    }
  }
}
