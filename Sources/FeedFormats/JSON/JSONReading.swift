/// The parts that the readers of JSON feeds share: URLs, text and images, and the repairs that were needed.
protocol JSONReading {
  var limits: FeedLimits { get }
  /// The base of relative URLs.
  var base: String? { get }
  var repairs: Repairs { get set }
}

extension JSONReading {
  /// Appends an item for each object among `values`.
  mutating func readItems(
    _ values: some Sequence<JSONValue>, into document: inout FeedDocument,
    _ item: (inout Self, JSONValue) throws(FeedFormatError) -> FeedItem
  ) throws(FeedFormatError) {
    var addressBytes = 0
    for value in values {
      guard value.kind == .object else {
        repairs.insert(.jsonShape)
        continue
      }
      guard document.items.count < limits.items else { throw .tooManyItems(limit: limits.items) }
      let item = try item(&self, value)
      addressBytes += item.addressBytes
      guard addressBytes <= limits.addressBytes else { throw .addressesTooLong(limit: limits.addressBytes) }
      document.items.append(item)
    }
  }

  mutating func note(
    _ address: Bytes, from source: FeedImageCandidate.Source, base: String?, size: (Int?, Int?) = (nil, nil),
    type: String? = nil, alt: String? = nil, in item: inout FeedItem
  ) {
    guard let address = absoluteAddress(address, base: base) else { return }
    let image = FeedImageCandidate(
      address: address, source: source, width: size.0, height: size.1, type: type, alt: alt)
    if !item.addImage(image, limit: limits.imagesPerItem) { repairs.insert(.images) }
  }

  /// Adds the images in text to an item, if the text is HTML.
  mutating func noteImages(of text: FeedText?, from source: FeedImageCandidate.Source, in item: inout FeedItem) {
    if !item.addImages(in: text, from: source, base: baseAddress(item.link) ?? base, limit: limits.imagesPerItem) {
      repairs.insert(.images)
    }
  }

  /// The bytes of a string that exists and is not empty.
  mutating func bytes(_ value: JSONValue?) -> Bytes? {
    guard let value, value.kind != .null else { return nil }
    guard let bytes = value.bytes else {
      repairs.insert(.jsonShape)
      return nil
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// The text of a string that exists and is not empty.
  mutating func string(_ value: JSONValue?) throws(FeedFormatError) -> String? {
    guard let bytes = bytes(value) else { return nil }
    try checkLength(bytes.count)
    return bytes.checkedString
  }

  /// The text of a string or a number that exists and is not empty.
  func stringOrNumber(_ value: JSONValue?) throws(FeedFormatError) -> String? {
    guard let text = value?.stringOrNumber, !text.isEmpty else { return nil }
    try checkLength(text.utf8.count)
    return text
  }

  private func checkLength(_ count: Int) throws(FeedFormatError) {
    guard count <= limits.textBytes else { throw .textTooLong(limit: limits.textBytes) }
  }

  func url(_ value: JSONValue?) -> String? {
    value?.bytes.flatMap { absoluteAddress($0, base: base) }
  }
}
