/// Reads a JSON document in any format.
enum JSONDocument {
  static func read(_ bytes: [UInt8], address: String?, limits: FeedLimits) throws(FeedFormatError) -> FeedDocument {
    if let document = try parse(bytes, address: address, limits: limits) { return document }
    // The document isn't certainly valid. It is a JSON Feed in another encoding or with mistakes, Essential Feed JSON
    // that only `JSONDecoder` reads, or an error.
    let (text, encoding, repairs) = repaired(bytes)
    do throws(FeedFormatError) {
      if var document = try parse(text, address: address, limits: limits), document.format != .caseStudy {
        document.encoding = encoding
        document.repairs += repairs.sentences
        document.isCutOff = repairs.contains(.cutOff)
        return document
      }
    } catch {
      // A document that is cut off before its items is read as invalid JSON.
      guard repairs.contains(.cutOff), case .wrongShape = error else { throw error }
    }
    return document(
      of: CaseStudyFeed.Images(try CaseStudyOracle.images(in: bytes, maxValues: limits.values)), encoding: encoding)
  }

  /// Parses a document; returns `nil` if it is not certainly valid.
  private static func parse(
    _ bytes: [UInt8], address: String?, limits: FeedLimits
  ) throws(FeedFormatError) -> FeedDocument? {
    let read = try JSONTape.parse(bytes) { tape throws(FeedFormatError) -> FeedDocument? in
      guard tape.words <= 2 * limits.values || !bytes.withUnsafeBytes({ $0.holdsMoreJSONValues(than: limits.values) })
      else { throw .tooManyValues(limit: limits.values) }
      if JSONFeedReader.recognizes(tape.root) {
        var reader = JSONFeedReader(address: address, limits: limits)
        return try reader.read(tape.root)
      }
      if RSSInJSONReader.recognizes(tape.root) {
        var reader = RSSInJSONReader(address: address, limits: limits)
        return try reader.read(tape.root)
      }
      return CaseStudyFeed.images(in: tape, ofBytes: bytes.count).map { document(of: $0, encoding: "UTF-8") }
    }
    return read ?? nil
  }

  private static func document(of images: CaseStudyFeed.Images, encoding: String) -> FeedDocument {
    let items = images.map { image in
      var item = FeedItem()
      item.guid = image.identity.text
      item.summary = image.description.map { FeedText($0.string, isMarkup: false) }
      item.location = image.location.map { FeedPlace(name: $0.string) }
      item.images = [FeedImageCandidate(address: image.address.string, source: .image)]
      item.chosenImage = 0
      return item
    }
    return FeedDocument(format: .caseStudy, encoding: encoding, items: items)
  }

  /// The document as UTF-8, with the usual mistakes repaired.
  private static func repaired(_ bytes: [UInt8]) -> (text: [UInt8], encoding: String, repairs: Repairs) {
    var text: [UInt8] = []
    var decoder = TextDecoder(charset: nil)
    bytes.withBytes { decoder.decode($0, isLast: true, to: &text) }
    var repair = JSONRepair(text, repairs: decoder.repairs)
    repair.run()
    return (repair.text, decoder.encoding, repair.repairs)
  }
}
