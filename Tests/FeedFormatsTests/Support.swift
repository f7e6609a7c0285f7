import FeedFormats

/// Reads a document twice, whole and byte by byte; the results must not differ.
func read(
  _ text: String, address: String? = "https://example.org/feed.xml", charset: String? = nil,
  limits: FeedLimits = FeedLimits()
) throws -> FeedDocument {
  try read(bytes: Array(text.utf8), address: address, charset: charset, limits: limits)
}

func read(
  bytes: [UInt8], address: String? = "https://example.org/feed.xml", charset: String? = nil,
  limits: FeedLimits = FeedLimits()
) throws -> FeedDocument {
  let outcome = Result { try FeedParser.document(of: bytes, address: address, charset: charset, limits: limits) }
  let slow = Result {
    var parser = FeedParser(address: address, charset: charset, limits: limits)
    for byte in bytes { try parser.feed([byte]) }
    return try parser.finish()
  }
  switch (outcome, slow) {
  case (.success(let one), .success(let other)) where one == other: return one
  case (.failure(let one as FeedFormatError), .failure(let other as FeedFormatError)) where one == other: throw one
  default: throw Differs(whole: "\(outcome)", byteByByte: "\(slow)")
  }
}

/// A document that is read differently when it arrives byte by byte.
struct Differs: Error {
  let whole: String
  let byteByByte: String
}

/// RSS 2.0 around items, with the usual namespaces.
func rss(_ items: String, channel: String = "") -> String {
  """
  <?xml version="1.0" encoding="UTF-8"?>
  <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
    xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:georss="http://www.georss.org/georss"
    xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#" xmlns:gml="http://www.opengis.net/gml"
    xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel>
  <title>A feed</title><link>https://example.org/</link>\(channel)
  \(items)
  </channel></rss>
  """
}

/// Atom 1.0 around entries.
func atom(_ entries: String, feed: String = "") -> String {
  """
  <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
  <title>A feed</title><id>tag:feed</id>\(feed)
  \(entries)</feed>
  """
}

func jsonFeed(_ items: String, version: String = "https://jsonfeed.org/version/1.1", top: String = "") -> String {
  """
  {"version": "\(version)", "title": "A feed", "home_page_url": "https://example.org/", \(top) "items": [\(items)]}
  """
}

extension FeedItem {
  /// Every image as `source URL`.
  var found: [String] { images.map { "\($0.source.rawValue) \($0.address)" } }
}
