public import struct Foundation.UUID

/// Essential Feed JSON: `{"items": [{"id": UUID, "description"?: string, "location"?: string, "image": URL}]}` in
/// UTF-8 or UTF-16.
///
/// The server's order is kept, and so are items that repeat an id. A `null` description or location counts as absent,
/// and unknown keys are ignored. A document with no items is an empty feed. One bad item makes the whole feed invalid:
/// part of a feed is never shown or saved as if it were the whole feed.
///
/// simdjson reads valid documents, ten times as fast as `JSONDecoder`. `JSONDecoder` then reads the others and reports
/// the error: it defines what is accepted, the result, and every message.
public enum CaseStudyFeed {
  public struct Image: Hashable, Sendable {
    var identity: Identity
    public var description: SharedText?
    public var location: SharedText?
    /// An absolute http or https URL.
    public var address: SharedText
    /// True for a string that is certainly a URL, even though no parser has checked it: see ``isPlainWebAddress(_:)``.
    public var isPlain: Bool

    public init(id: UUID, description: SharedText?, location: SharedText?, address: SharedText, isPlain: Bool) {
      self.init(
        identity: Identity(id), description: description, location: location, address: address, isPlain: isPlain)
    }

    @inline(__always)
    init(identity: Identity, description: SharedText?, location: SharedText?, address: SharedText, isPlain: Bool) {
      self.identity = identity
      self.description = description
      self.location = location
      self.address = address
      self.isPlain = isPlain
    }

    public var id: UUID { identity.uuid }
  }

  /// A copy of a document with memory past its end, so that the parser, which reads a little beyond the end, doesn't
  /// need to make a copy.
  public static func padded(_ body: some Collection<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: body.count + JSONTape.padding) { memory, count in
      preferLargePages(for: UnsafeMutableRawBufferPointer(memory))
      count = UnsafeMutableBufferPointer(rebasing: memory[..<body.count]).initialize(fromContentsOf: body)
    }
  }

  /// The images in `body`.
  ///
  /// - Parameters:
  ///   - body: a complete document.
  ///   - maxValues: the maximum number of JSON values.
  public static func images(
    in body: [UInt8], maxValues: Int = FeedLimits().values
  ) throws(FeedFormatError) -> Images {
    let fast = JSONTape.parse(body) { tape in
      tape.words <= maxValues ? images(in: tape, ofBytes: body.count) : nil
    }
    if let images = fast ?? nil { return images }
    return Images(try CaseStudyOracle.images(in: body, maxValues: maxValues))
  }

  /// The same images, read by `JSONDecoder` alone, which defines the format; for comparisons.
  public static func imagesByDecoder(
    in body: [UInt8], maxValues: Int = FeedLimits().values
  ) throws(FeedFormatError) -> Images {
    Images(try CaseStudyOracle.images(in: body, maxValues: maxValues))
  }

  /// The images in `tape`; `nil` if the document is invalid or not certainly valid.
  ///
  /// - Parameter count: the document's length in bytes: its strings take up at most five thirds of that.
  static func images(in tape: JSONTape, ofBytes count: Int) -> Images? {
    guard count <= 1 << 30, let value = tape.root["items"], let items = value.elements else { return nil }
    let texts = tape.takeStrings()
    var records: [Images.Record] = []
    var encoded: [UInt8] = []
    records.reserveCapacity(value.count)
    for item in items {
      guard append(item, texts, to: &records, &encoded) else { return nil }
    }
    return Images(texts: texts, encoded: encoded, records: records)
  }

  @inline(__always)
  private static func append(
    _ item: JSONValue, _ texts: TextBuffer, to records: inout [Images.Record], _ encoded: inout [UInt8]
  ) -> Bool {
    guard var members = item.members else { return false }
    // If a key is repeated, the first value counts, as in `JSONDecoder`.
    var id: JSONValue?
    var description: JSONValue?
    var location: JSONValue?
    var address: JSONValue?
    while let (name, value) = members.next() {
      switch name.count {
      case 2 where name.equals("id") && id == nil: id = value
      case 5 where name.equals("image") && address == nil: address = value
      case 8 where name.equals("location") && location == nil: location = value
      case 11 where name.equals("description") && description == nil: description = value
      default: break
      }
    }
    guard let id = id?.bytes.flatMap({ Identity($0) }), let address = address?.bytes,
      description?.isOptionalText ?? true, location?.isOptionalText ?? true
    else { return false }
    let place: Images.Place
    if address.isPlainWebAddress {
      place = texts.place(of: address)
    } else {
      guard let text = CaseStudyOracle.address(address.checkedString) else { return false }
      place = Images.Place(start: UInt32(encoded.count), length: UInt32(text.utf8.count) | Images.mark)
      encoded += text.utf8
    }
    records.append(
      Images.Record(
        identity: id, description: (description?.bytes).map { texts.place(of: $0) } ?? .absent,
        location: (location?.bytes).map { texts.place(of: $0) } ?? .absent, address: place))
    return true
  }
}

extension JSONValue {
  /// True for a string, and for `null`.
  @inline(__always)
  fileprivate var isOptionalText: Bool { kind == .string || kind == .null }
}
