/// The limits of a document. Exceeding a limit ends parsing with that limit's own ``FeedFormatError``.
public struct FeedLimits: Hashable, Sendable {
  /// The maximum size of a document: 32 MiB (``FeedFormatError/documentTooLong(limit:)``).
  public var documentBytes = 32 << 20
  /// The maximum amount of data before the beginning of a feed: 64 KiB (``FeedFormatError/notAFeed``). Such data is
  /// dropped. Up to 64 KiB more may be read, because data whose encoding isn't certain yet doesn't count.
  public var recognitionBytes = 64 << 10
  /// The maximum nesting depth of XML elements: 256 (``FeedFormatError/tooDeep(limit:)``). JSON may be nested 512
  /// levels deep, which is the decoder's limit (``FeedFormatError/notJSON(_:)``).
  public var depth = 256
  /// The maximum size of a tag, including its attributes: 64 KiB (``FeedFormatError/tagTooLong(limit:)``).
  public var tagBytes = 64 << 10
  /// The maximum number of attributes per tag: 256 (``FeedFormatError/tooManyAttributes(limit:)``).
  public var attributes = 256
  /// The maximum length of an element's or attribute's name: 1 KiB (``FeedFormatError/nameTooLong(limit:)``).
  public var nameBytes = 1 << 10
  /// The maximum size of a document type declaration, which is skipped: 64 KiB
  /// (``FeedFormatError/doctypeTooLong(limit:)``).
  public var doctypeBytes = 64 << 10
  /// The maximum size of one field's text: 4 MiB (``FeedFormatError/textTooLong(limit:)``). Only ``documentBytes``
  /// limits the texts of Essential Feed JSON.
  public var textBytes = 4 << 20
  /// The maximum number of items in a feed: 200,000 (``FeedFormatError/tooManyItems(limit:)``).
  public var items = 200_000
  /// The maximum total size of the URLs of all items and their images, once relative URLs have been resolved: 64 MiB
  /// (``FeedFormatError/addressesTooLong(limit:)``). A base URL longer than 2 KiB is used without its query and
  /// fragment, or not at all if the rest is still longer.
  public var addressBytes = 64 << 20
  /// The maximum number of images per item: 64. Further images are left out, which counts as a repair, not an error.
  public var imagesPerItem = 64
  /// The maximum number of values in a JSON document: two million (``FeedFormatError/tooManyValues(limit:)``).
  public var values = 2_000_000

  public init() {}
}

/// The reason why a document is not a feed that can be shown.
public enum FeedFormatError: Error, Hashable, Sendable {
  /// The document has no bytes.
  case empty
  /// The document's first kilobytes contain no feed of any known format.
  case notAFeed
  /// The document is a web page.
  case webPage
  /// The document is a list of feeds (OPML).
  case listOfFeeds
  case documentTooLong(limit: Int)
  case tooDeep(limit: Int)
  case tagTooLong(limit: Int)
  case tooManyAttributes(limit: Int)
  case nameTooLong(limit: Int)
  case doctypeTooLong(limit: Int)
  case textTooLong(limit: Int)
  case tooManyItems(limit: Int)
  case tooManyValues(limit: Int)
  case addressesTooLong(limit: Int)
  /// The document begins like JSON but isn't JSON; the text is the decoder's error.
  case notJSON(String)
  /// The document is JSON with the wrong structure. The values are the location of the error (`items[3].id`; empty for
  /// the whole document) and the expected structure.
  case wrongShape(at: String, String)
  /// In Essential Feed JSON, the image URL of the item at this index isn't an absolute http or https URL.
  case imageAddress(item: Int, String)
}
