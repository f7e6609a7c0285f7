public import Foundation
public import ImageFeed

/// Writes a body as a feed's server would send it, which is the reverse of reading it with `CaseStudyFormat`.
public enum FeedPayload {
  /// The body of a response, in UTF-8; a missing description or location is left out.
  public static func bytes(of images: some Sequence<FeedImage>) -> Data {
    let items = images.map {
      Item(id: $0.id.uuid, description: $0.description, location: $0.location, image: $0.url.absoluteString)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(["items": items])
    } catch {
      preconditionFailure("FeedPayload: the images cannot be written as JSON (\(error)); check their text")
    }
  }

  private struct Item: Encodable {
    let id: UUID
    let description: String?
    let location: String?
    let image: String
  }
}
