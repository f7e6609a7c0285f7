import FeedFormats
import FeedHTTP
import Foundation
import ImageFeed
import PlainText

/// The gallery as feeds for other feed readers.
enum GalleryFeeds {
  /// The maximum number of images in a document.
  static let most = 200

  /// A part of the gallery, as a document.
  struct Part {
    let gallery: Gallery
    /// The entries, latest first.
    let entries: [Gallery.Entry]
    var query = GalleryQuery()
    /// The token that requests need, for feed readers without cookies.
    var token: String?
    /// The hub that announces changes (WebSub); `nil` if the document was requested from a host or a port other than
    /// those of the public URL.
    var hub: String?

    /// The token to append to the URL of an image.
    private var suffix: String { token.map { "?token=\($0)" } ?? "" }

    /// The URL of this part, with the token.
    func place(_ path: String) -> String {
      let address = query.address(of: path, isPermanent: true)
      return address + (query.isEmpty ? suffix : token.map { "&token=\($0)" } ?? "")
    }
  }
}

extension GalleryFeeds.Part {
  /// JSON Feed 1.1.
  func json(at base: String) -> String {
    struct Item: Encodable {
      struct Author: Encodable { let name: String }
      let id: String
      let url: String
      let externalURL: String?
      let title: String?
      let contentText: String
      let image: String
      let datePublished: String?
      let authors: [Author]
      let tags: [String]?
    }
    struct Document: Encodable {
      let version = "https://jsonfeed.org/version/1.1"
      let title = "Images"
      let homePageURL: String
      let feedURL: String
      let hubs: [Hub]?
      let items: [Item]
    }
    struct Hub: Encodable {
      let type = "WebSub"
      let url: String
    }
    let names = names
    let items = entries.prefix(GalleryFeeds.most).map { entry in
      let servedURL = "\(base)/image/\(entry.key)\(suffix)"
      return Item(
        id: names(entry), url: GalleryFeeds.link(entry) ?? servedURL,
        externalURL: GalleryFeeds.link(entry) == nil ? entry.imageURL.withoutUser.absoluteString : nil,
        title: entry.description, contentText: GalleryFeeds.content(entry).joined(separator: "\n"), image: servedURL,
        datePublished: entry.date?.stamp, authors: [.init(name: gallery.sources[entry.source].name)],
        tags: entry.location.map { [$0] })
    }
    let document = Document(
      homePageURL: base + place("/"), feedURL: base + place("/feed.json"), hubs: hub.map { [Hub(url: $0)] },
      items: Array(items))
    return encoded(document) + "\n"
  }

  /// Atom (RFC 4287).
  func atom(at base: String) -> String {
    let names = names
    var text = """
      <?xml version="1.0" encoding="utf-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom">
      <title>Images</title>
      <id>\((base + query.address(isPermanent: true)).markup)</id>
      <updated>\(gallery.changed.stamp)</updated>
      <link href="\((base + place("/")).markup)"/>
      <link rel="self" href="\((base + place("/feed.atom")).markup)"/>

      """
    if let hub { text += "<link rel=\"hub\" href=\"\(hub.markup)\"/>\n" }
    for entry in entries.prefix(GalleryFeeds.most) {
      let servedURL = "\(base)/image/\(entry.key)\(suffix)".markup
      let author = gallery.sources[entry.source].name
      let lines = GalleryFeeds.content(entry).flatMap { $0.split(whereSeparator: \.isNewline) }
      text += """
        <entry>
        <title>\(plainLine(entry.description ?? "An image without a description").markup)</title>
        <id>\(GalleryFeeds.urn(names(entry)))</id>
        <updated>\((entry.date ?? gallery.started).stamp)</updated>
        <author><name>\(author.markup)</name></author>
        <link href="\(GalleryFeeds.link(entry)?.markup ?? servedURL)"/>
        <link rel="enclosure" href="\(servedURL)"/>
        <link rel="via" href="\(entry.imageURL.withoutUser.absoluteString.markup)"/>
        <summary>\(lines.map { plainLine(String($0)).markup }.joined(separator: "\n"))</summary>
        </entry>

        """
    }
    return text + "</feed>\n"
  }

  /// The ids of entries, as in their feeds. If an earlier feed has the same id, a digest of the feed's URL is appended,
  /// so that ids are unique and permanent.
  private var names: (Gallery.Entry) -> String {
    var owners: [String: Int] = [:]
    for entry in gallery.entries + entries { owners[entry.id] = min(owners[entry.id] ?? entry.source, entry.source) }
    return { entry in
      guard owners[entry.id] != entry.source else { return entry.id }
      let feed = entry.feed.absoluteString
      return "\(entry.id)-\(BodyDigest(feed.utf8).text)"
    }
  }
}

extension GalleryFeeds {
  /// The lines of text: the item's text, or else its caption; and its place.
  fileprivate static func content(_ entry: Gallery.Entry) -> [String] {
    [entry.post.text ?? entry.description, entry.location].compactMap { $0 }
  }

  /// The URL of the post.
  static func link(_ entry: Gallery.Entry) -> String? { entry.post.link?.withoutUser.absoluteString }

  /// The id as a URN: nearly all ids are UUIDs, for which RFC 9562 defines a namespace.
  fileprivate static func urn(_ id: String) -> String {
    UUID(uuidString: id).map { "urn:uuid:\($0.uuidString.lowercased())" } ?? "urn:feed:\(id.markup)"
  }
}

extension String {
  /// The text escaped for HTML and XML, including attributes; invisible characters are made visible.
  var markup: String { printable.escaped }

  /// The text on one line, truncated after `limit` Unicode scalars; invisible characters are made visible.
  func printableLine(limit: Int) -> String {
    // Cut first, so that a long text costs nothing.
    String(unicodeScalars.prefix(2 * limit)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
      .printable(limit: limit)
  }

  /// The text escaped for HTML and XML, and otherwise unchanged: for the values of form fields, which browsers send
  /// back.
  var escaped: String {
    var result = ""
    for character in unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}
