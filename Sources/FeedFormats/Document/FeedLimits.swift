/// How much a document may hold. What is past a limit ends the parsing with the limit's own ``FeedFormatError``.
public struct FeedLimits: Hashable, Sendable {
  /// How many bytes the document may have: 32 MiB. ``FeedFormatError/documentTooLong(limit:)``.
  public var documentBytes = 32 << 20
  /// Within how many bytes a feed must begin, for what stands before it is dropped: 64 KiB.
  /// ``FeedFormatError/notAFeed``.
  public var recognitionBytes = 64 << 10
  /// How deep elements of XML, or arrays and objects of JSON, may nest: 256. ``FeedFormatError/tooDeep(limit:)``.
  public var depth = 256
  /// How many bytes a tag may have, its attributes included: 64 KiB. ``FeedFormatError/tagTooLong(limit:)``.
  public var tagBytes = 64 << 10
  /// How many attributes a tag may have: 256. ``FeedFormatError/tooManyAttributes(limit:)``.
  public var attributes = 256
  /// How many bytes the name of an element or of an attribute may have: 1 KiB. ``FeedFormatError/nameTooLong(limit:)``.
  public var nameBytes = 1 << 10
  /// How many bytes a document type declaration may have, which is skipped: 64 KiB.
  /// ``FeedFormatError/doctypeTooLong(limit:)``.
  public var doctypeBytes = 64 << 10
  /// How many bytes the text of one field may have: 4 MiB. ``FeedFormatError/textTooLong(limit:)``.
  public var textBytes = 4 << 20
  /// How many items a feed may have: 200,000. ``FeedFormatError/tooManyItems(limit:)``.
  public var items = 200_000
  /// How many bytes the addresses of all pictures may have, which are longer than in the document when they are relative:
  /// 64 MiB. ``FeedFormatError/addressesTooLong(limit:)``.
  public var addressBytes = 64 << 20
  /// How many pictures of one item are listed: 64. The others are left out, which is a repair and no error.
  public var imagesPerItem = 64
  /// How many values a JSON document may hold: two million. ``FeedFormatError/tooManyValues(limit:)``.
  public var values = 2_000_000

  public init() {}
}

/// Why a document is not a feed that can be shown.
public enum FeedFormatError: Error, Hashable, Sendable {
  /// The document has no bytes.
  case empty
  /// Its first kilobytes hold no feed of any known format.
  case notAFeed
  /// It is a web page.
  case webPage
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
  /// It begins as JSON and is not JSON: what is wrong.
  case notJSON(String)
  /// It is JSON of another shape: where (`items[3].id`; empty for the whole) and what was expected.
  case wrongShape(at: String, String)
  /// The image address of the item at this index of the case study's format is not an absolute http or https address.
  case imageAddress(item: Int, String)
}
