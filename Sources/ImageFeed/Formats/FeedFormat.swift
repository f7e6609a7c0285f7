public import FeedFormats

/// A format in which a server may write a feed of images.
///
/// A feed is read by the first format of a list that recognizes it: add a format of your own before those of the web,
///
///     options.formats = [CompanyFormat()] + .web
///
/// Both functions run on the thread pool.
public protocol FeedFormat: Sendable {
  /// True when a document looks like one of this format.
  ///
  /// Judge by the bytes of the body: types and names are often wrong.
  func recognizes(_ document: WebDocument) -> Bool

  /// The images of a document that this format recognizes, in its order.
  ///
  /// - Parameter limits: the limits of a document; see ``InvalidData/tooMuch(of:limit:)``.
  /// - Throws: the error in the document. A part of a feed is never shown or saved as if it were the feed.
  func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages
}

extension [any FeedFormat] {
  /// The case study's JSON, RSS, Atom and JSON Feed.
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
