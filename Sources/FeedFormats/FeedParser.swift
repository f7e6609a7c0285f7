/// Reads a feed in any format while its bytes arrive.
///
///     var parser = FeedParser(address: "https://example.org/feed", charset: nil)
///     for chunk in chunks { try parser.feed(chunk) }
///     let document = try parser.finish()
///
/// XML is read as it arrives, so parsing ends early if the document isn't a feed or exceeds a limit. JSON is collected
/// and read at the end. Document types, and entities other than HTML's, are never evaluated, and no URL is requested.
/// Parsing takes up to 10 ns per byte: run it off the loop.
///
/// After an error, the parser can't be used anymore.
public struct FeedParser: Sendable {
  private enum Stage {
    case unknown
    case xml
    case json
  }

  private static let pieceBytes = 64 << 10

  private let limits: FeedLimits
  private let address: String?
  private var stage = Stage.unknown
  private var length = 0
  private var scanned = 0
  private var decoder: TextDecoder
  private var scanner: XMLScanner
  private var builder: SyndicationBuilder
  /// All bytes of JSON, or the bytes whose format isn't known yet.
  private var gathered: [UInt8] = []

  /// - Parameters:
  ///   - address: the document's final URL; if it is http or https, relative URLs are resolved against it.
  ///   - charset: the charset of the response's type.
  public init(address: String? = nil, charset: String? = nil, limits: FeedLimits = FeedLimits()) {
    self.limits = limits
    let address = address.flatMap { $0.withBytes { absoluteAddress($0, base: nil) } }
    self.address = address
    decoder = TextDecoder(charset: charset)
    scanner = XMLScanner(limits: limits)
    builder = SyndicationBuilder(address: address, limits: limits)
  }

  /// True as soon as the bytes show that the document is a feed, in any format.
  public var isRecognized: Bool { stage == .json || builder.isRecognized }

  public mutating func feed(_ bytes: UnsafeRawBufferPointer) throws(FeedFormatError) {
    length += bytes.count
    guard length <= limits.documentBytes else { throw .documentTooLong(limit: limits.documentBytes) }
    let bytes = bytes.assumingMemoryBound(to: UInt8.self)
    var index = 0
    while index < bytes.count {
      let end = stage == .json ? bytes.count : min(bytes.count, index + Self.pieceBytes)
      try take(bytes.part(index, end), isLast: false)
      index = end
    }
  }

  public mutating func feed(_ bytes: [UInt8]) throws(FeedFormatError) {
    try bytes.withUnsafeBufferPointer { bytes throws(FeedFormatError) in
      try feed(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Returns the document. Call this when all bytes have been fed to the parser.
  public mutating func finish() throws(FeedFormatError) -> FeedDocument {
    guard length > 0 else { throw .empty }
    try take(Bytes(start: nil, count: 0), isLast: true)
    switch stage {
    case .json:
      var gathered = self.gathered
      self.gathered = []
      // Reserve room past the end, so that simdjson needs no copy.
      gathered.reserveCapacity(gathered.count + JSONTape.padding)
      return try JSONDocument.read(gathered, address: address, limits: limits)
    case .xml, .unknown:
      guard builder.isRecognized else { throw builder.reasonForNone }
      builder.repair(decoder.repairs)
      var document = try builder.finish()
      guard !builder.isEmptyByChance(document) else { throw builder.reasonForNone }
      document.encoding = decoder.encoding
      return document
    }
  }

  /// Reads a whole document.
  public static func document(
    of bytes: [UInt8], address: String? = nil, charset: String? = nil, limits: FeedLimits = FeedLimits()
  ) throws(FeedFormatError) -> FeedDocument {
    var parser = FeedParser(address: address, charset: charset, limits: limits)
    try parser.feed(bytes)
    return try parser.finish()
  }

  private mutating func take(_ bytes: Bytes, isLast: Bool) throws(FeedFormatError) {
    switch stage {
    case .unknown:
      gathered.append(bytes)
      guard let isJSON = looksLikeJSON(gathered) else {
        // There is only whitespace so far.
        guard gathered.count <= limits.recognitionBytes else { throw .notAFeed }
        return
      }
      stage = isJSON ? .json : .xml
      if !isJSON, !looksLikeMarkup(gathered) { builder.repair(.junkBefore) }
      guard !isJSON else { return }
      let head = gathered
      gathered = []
      try head.withUnsafeBufferPointer { head throws(FeedFormatError) in try scan(head, isLast: isLast) }
    case .json: gathered.append(bytes)
    case .xml: try scan(bytes, isLast: isLast)
    }
  }

  private mutating func scan(_ bytes: Bytes, isLast: Bool) throws(FeedFormatError) {
    decoder.decode(bytes, isLast: isLast, to: &scanner.pending)
    do throws(FeedFormatError) {
      try scanner.scan(isLast: isLast, into: &builder)
    } catch {
      // An error in a web page, such as in its scripts, doesn't describe a feed.
      throw builder.isPage && !builder.isRecognized ? .webPage : error
    }
    scanned += bytes.count
    // The decoder may hold the root element, until the encoding of an earlier character is certain.
    guard builder.isRecognized || scanned - decoder.held < limits.recognitionBytes else {
      throw builder.reasonForNone
    }
  }
}

/// The bytes of invisible characters: whitespace, byte order marks, and the zero bytes of ASCII in UTF-16.
private let invisibleBytes: [UInt8] = [0x00, 0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF]

extension Sequence<UInt8> {
  /// The first byte of a visible character, in any Unicode encoding.
  package var firstVisible: UInt8? { first { !invisibleBytes.contains($0) } }
}

private func looksLikeMarkup(_ bytes: [UInt8]) -> Bool {
  // 0x4C is `<` in EBCDIC.
  [UInt8(ascii: "<"), 0x4C].contains(bytes.firstVisible)
}

/// True if the first visible character begins a JSON object or array. `nil` if there is no such character yet.
private func looksLikeJSON(_ bytes: [UInt8]) -> Bool? {
  bytes.firstVisible.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
}
