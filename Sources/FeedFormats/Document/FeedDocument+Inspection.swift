extension FeedDocument {
  /// The document as `feed inspect --format json` prints it: one object, on one line, in ASCII and UTF-8.
  ///
  /// ```json
  /// {"format", "encoding", "title"?, "link"?, "repairs": [text], "items": [{"id", "guid"?, "title"?, "summary"?,
  ///  "content"?, "link"?, "published"?, "location"?, "images": [{"url", "from", "width"?, "height"?, "type"?}],
  ///  "chosen"?}]}
  /// ```
  ///
  /// - Parameter id: the identity of the item at an index.
  public func inspection(id: (FeedItem, Int) -> String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("format", format.rawValue)
      json.member("encoding", encoding)
      json.member("title", title?.value)
      json.member("link", link)
      json.array("repairs", repairs) { json, repair in json.value(repair) }
      json.array("items", Array(items.enumerated())) { json, element in
        json.object { json in element.1.write(to: &json, id: id(element.1, element.0)) }
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension FeedItem {
  fileprivate func write(to json: inout JSONWriter, id: String) {
    json.member("id", id)
    json.member("guid", guid)
    json.member("title", title?.value)
    json.member("summary", summary?.value)
    json.member("content", content?.value)
    json.member("link", link)
    json.member("published", (published ?? updated)?.description)
    json.member("location", location?.text)
    json.array("images", images) { json, image in
      json.object { json in
        json.member("url", image.address)
        json.member("from", image.source.rawValue)
        json.member("width", image.width)
        json.member("height", image.height)
        json.member("type", image.type)
      }
    }
    json.member("chosen", image?.address)
  }
}

/// Writes JSON (RFC 8259) without line breaks.
private struct JSONWriter {
  var bytes: [UInt8] = []
  private var needsComma = false

  mutating func object(_ body: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  mutating func array<Element>(_ name: String, _ values: [Element], _ body: (inout JSONWriter, Element) -> Void) {
    key(name)
    bytes.append(UInt8(ascii: "["))
    for value in values { body(&self, value) }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    key(name)
    value(text)
  }

  mutating func member(_ name: String, _ number: Int?) {
    guard let number else { return }
    key(name)
    bytes += String(number).utf8
    needsComma = true
  }

  mutating func value(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): bytes += "\\n".utf8
      case ..<0x20, 0x7F:
        let digits = Array("0123456789abcdef".utf8)
        bytes += "\\u00".utf8
        bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  private mutating func key(_ name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
  }
}
