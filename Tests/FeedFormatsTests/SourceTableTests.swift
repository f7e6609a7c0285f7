import FeedFormats
import TestSupport
import Testing

/// The table of docs/Formats.md: every format with each of its image sources.
@Suite(.settled) struct SourceTableTests {
  static let formats: [FeedKind] = [
    .rss20, .rss092, .rss10, .rss090, .atom10, .atom03, .jsonFeed1, .jsonFeed11, .caseStudy,
  ]

  /// A document of one item.
  private func document(_ format: FeedKind, _ item: String) -> String {
    switch format {
    case .rss10: rdf("http://purl.org/rss/1.0/", item)
    case .rss090: rdf("http://my.netscape.com/rdf/simple/0.9/", item)
    case .rss092: "<rss version='0.92'><channel><item>\(item)</item></channel></rss>"
    case .atom10: atom("<entry>\(item)</entry>")
    case .atom03: "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry>\(item)</entry></feed>"
    case .jsonFeed1: jsonFeed("{\(item)}", version: "https://jsonfeed.org/version/1")
    case .jsonFeed11: jsonFeed("{\(item)}")
    case .caseStudy: "{\"items\": [{\(item)}]}"
    default: rss("<item>\(item)</item>")
    }
  }

  private func rdf(_ namespace: String, _ item: String) -> String {
    """
    <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="\(namespace)"
      xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
    <channel><title>T</title></channel><item>\(item)</item></rdf:RDF>
    """
  }

  struct Cell: CustomTestStringConvertible {
    let format: FeedKind
    let source: FeedImageCandidate.Source
    let item: String

    var testDescription: String { "\(format.rawValue), \(source.rawValue)" }
  }

  private static let media: [(FeedImageCandidate.Source, String)] = [
    (.mediaContent, "<media:content url='ADDRESS' medium='image'/>"),
    (.mediaContent, "<media:group><media:content url='ADDRESS' type='image/jpeg'/></media:group>"),
    (.mediaThumbnail, "<media:thumbnail url='ADDRESS'/>"), (.itunesImage, "<itunes:image href='ADDRESS'/>"),
  ]
  private static let rssItems: [(FeedImageCandidate.Source, String)] =
    media + [
      (.enclosure, "<enclosure url='ADDRESS' type='image/jpeg' length='1'/>"),
      (.image, "<image><url>ADDRESS</url></image>"),
      (.content, "<content:encoded>&lt;img src='ADDRESS'></content:encoded>"),
      (.summary, "<description>&lt;img src='ADDRESS'></description>"),
    ]
  private static let jsonItems: [(FeedImageCandidate.Source, String)] = [
    (.enclosure, #""id": "1", "attachments": [{"url": "ADDRESS", "mime_type": "image/jpeg"}]"#),
    (.image, #""id": "1", "image": "ADDRESS""#), (.bannerImage, #""id": "1", "banner_image": "ADDRESS""#),
    (.content, #""id": "1", "content_html": "<img src='ADDRESS'>""#),
  ]
  private static func atomItems(_ html: String) -> [(FeedImageCandidate.Source, String)] {
    media + [
      (.enclosure, "<link rel='enclosure' type='image/jpeg' href='ADDRESS'/>"),
      (.content, "<content \(html)>&lt;img src='ADDRESS'></content>"),
      (.summary, "<summary \(html)>&lt;img src='ADDRESS'></summary>"),
    ]
  }

  static let cells: [Cell] = formats.flatMap { format in
    let items: [(FeedImageCandidate.Source, String)] =
      switch format {
      case .atom10: atomItems("type='html'")
      case .atom03: atomItems("type='text/html' mode='escaped'")
      case .jsonFeed1, .jsonFeed11: jsonItems
      case .caseStudy: [(.image, #""id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "image": "ADDRESS""#)]
      default: rssItems
      }
    return items.map { Cell(format: format, source: $0.0, item: $0.1) }
  }

  @Test(arguments: cells) func `every format finds an image in each of its sources`(cell: Cell) throws {
    let address = "https://e.com/1.jpg"
    let document = try read(document(cell.format, cell.item.replacing("ADDRESS", with: address)))
    #expect(document.format == cell.format)
    try #require(document.items.count == 1)
    #expect(document.items[0].images.map(\.source) == [cell.source])
    #expect(document.items[0].image?.address == address)
  }
}
