public import FeedFormats
import Foundation

/// The case study's format:
/// `{"items": [{"id": UUID, "description"?: string, "location"?: string, "image": URL}]}` in UTF-8 or UTF-16.
///
/// The server's order is kept, and so are items that repeat an id; a `null` description or location is absent;
/// unknown keys are ignored; no items make an empty feed. One bad item makes the whole feed invalid.
public struct CaseStudyFormat: FeedFormat {
  public init() {}

  /// True for JSON, unless it shows the marks of a JSON Feed.
  public func recognizes(_ document: WebDocument) -> Bool {
    guard document.isJSON else { return false }
    return document.body.withUnsafeBytes { body in
      !body.contains("jsonfeed.org")
        && !Self.marks.contains(where: UnsafeRawBufferPointer(rebasing: body.prefix(1 << 16)).contains)
    }
  }

  private static let marks = ["\"home_page_url\"", "\"feed_url\"", "\"content_html\"", "\"content_text\""]

  public func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
    let images: CaseStudyFeed.Images
    do throws(FeedFormatError) {
      images = try CaseStudyFeed.images(in: [UInt8](document.body), maxValues: limits.values)
    } catch {
      throw InvalidData(error)
    }
    var builder = FeedImages.Builder(count: images.count)
    for image in images { builder.append(image) }
    return builder.finish()
  }
}

extension FeedImages.Builder {
  /// Copies the texts of an image without making strings.
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
