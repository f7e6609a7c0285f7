public import FeedFormats
public import FeedStream

/// A format in which a server may write a feed of images.
///
/// The first format in the list that recognizes a feed reads it. Put your own format before the standard ones:
///
///     options.formats = [CompanyFormat()] + .web
///
/// The functions of a format run on the thread pool.
public protocol FeedFormat: Sendable {
  /// True when a document seems to be in this format.
  ///
  /// Examine the bytes of the body, because media types and file names are often wrong. While a document arrives, this
  /// method is called with its first kilobytes (16 or more); a document that no format recognizes isn't read to its
  /// end. For a complete document, the method is called again.
  func recognizes(_ document: WebDocument) -> Bool

  /// A reader for a document that this format recognizes and whose bytes are still arriving; `nil`, which is the
  /// default, for a format that reads only complete documents.
  ///
  /// - Parameter beginning: the document's first bytes; they are passed to the reader, too.
  func reader(of beginning: WebDocument, within limits: FeedLimits) -> (any FeedReader)?

  /// The images of a document that this format recognizes, in the document's order.
  ///
  /// - Parameter limits: the limits of a document; see ``InvalidData/tooMuch(of:limit:)``.
  /// - Throws: the error in the document. A partial feed must not be shown or saved as if it were complete: if the end
  ///   is missing, throw ``InvalidData/cutOff(_:)`` with the images that arrived, or throw a different error.
  func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages
}

extension FeedFormat {
  public func reader(of beginning: WebDocument, within limits: FeedLimits) -> (any FeedReader)? { nil }
}

/// Reads a document while it arrives. After an error, the reader isn't used again, and the transfer ends.
public protocol FeedReader {
  /// Receives the next bytes.
  mutating func read(_ bytes: Chunk) throws(InvalidData)

  /// The images, when all bytes have been read; ``InvalidData/cutOff(_:)`` when the document's end is missing.
  mutating func finish() throws(InvalidData) -> FeedImages
}

extension [any FeedFormat] {
  /// Essential Feed JSON, RSS, Atom and JSON Feed.
  public static var web: [any FeedFormat] { [CaseStudyFormat(), SyndicationFormat()] }

  /// The images of `document`, read by the first format that recognizes it.
  public func images(
    of document: WebDocument, within limits: FeedLimits = FeedLimits()
  ) throws(InvalidData) -> FeedImages {
    guard !document.body.isEmpty else { throw .empty }
    guard let format = first(where: { $0.recognizes(document) }) else { throw .notAFeed }
    return try format.images(of: document, within: limits)
  }
}
