public import FeedFormats
import Foundation

/// Essential Feed JSON: `{"items": [{"id": UUID, "description"?: string, "location"?: string, "image":
/// URL}]}` in UTF-8 or UTF-16.
///
/// The server's order is kept, and so are items that repeat an id. A `null` description or location counts as absent,
/// and unknown keys are ignored. A document with no items is an empty feed. One bad item makes the whole feed invalid.
public struct CaseStudyFormat: FeedFormat {
  public init() {}

  /// True for JSON, unless it is recognized as JSON Feed or RSS in JSON.
  public func recognizes(_ document: WebDocument) -> Bool {
    guard document.isJSON, !document.beginsAsRSS else { return false }
    return document.body.withUnsafeBytes { body in
      !body.contains("jsonfeed.org")
        && !Self.marks.contains(where: UnsafeRawBufferPointer(rebasing: body.prefix(1 << 16)).contains)
    }
  }

  private static let marks = ["\"home_page_url\"", "\"feed_url\"", "\"content_html\"", "\"content_text\""]

  public func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
    let images: CaseStudyFeed.Images
    do throws(FeedFormatError) {
      images = try CaseStudyFeed.images(in: CaseStudyFeed.padded(document.body), maxValues: limits.values)
    } catch {
      throw InvalidData(error)
    }
    var builder = FeedImages.Builder(count: images.count, textBytes: images.textBytes)
    for image in images { builder.append(image) }
    builder.next = images.last.flatMap { document.url.page(of: images.count, after: $0.id) }
    return builder.finish()
  }
}

extension FeedImages.Builder {
  /// Copies the text of an image without creating strings.
  fileprivate mutating func append(_ image: CaseStudyFeed.Image) {
    image.address.withUTF8 { address in
      image.description.withUTF8 { description in
        image.location.withUTF8 { location in
          append(
            .init(
              id: FeedImage.ID(image.id), description: description, location: location, address: address,
              isPlain: image.isPlain))
        }
      }
    }
  }
}

extension URL {
  /// The URL of the next page of Essential Feed JSON, for a URL that requests pages (`?limit=10`): the same URL with
  /// `after_id`, the id of the last image. `nil` after a page that is not full.
  fileprivate func page(of count: Int, after id: UUID) -> URL? {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true), var items = parts.queryItems,
      let limit = items.first(where: { $0.name == "limit" })?.value.flatMap({ Int($0) }), limit > 0, count >= limit
    else { return nil }
    items.removeAll { $0.name == "after_id" }
    parts.queryItems = items + [URLQueryItem(name: "after_id", value: id.uuidString)]
    return parts.url
  }
}

extension SharedText? {
  fileprivate func withUTF8(_ body: (UnsafeBufferPointer<UInt8>?) -> Void) {
    guard let text = self else { return body(nil) }
    text.withUTF8 { body($0) }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func contains(_ text: String) -> Bool {
    let text = Array(text.utf8)
    guard var start = baseAddress, count >= text.count else { return false }
    let last = start + count - text.count
    while start <= last, let found = memchr(start, Int32(text[0]), last - start + 1) {
      if memcmp(found, text, text.count) == 0 { return true }
      start = UnsafeRawPointer(found) + 1
    }
    return false
  }
}
