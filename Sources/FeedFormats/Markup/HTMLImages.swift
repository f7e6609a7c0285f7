/// The pictures of an HTML text, in order: the `<img>` elements that show something.
struct HTMLImages {
  struct Image {
    /// As written, with entities resolved.
    var address: [UInt8]
    var width: Int?
    var height: Int?
  }

  private let html: Bytes
  private var index = 0
  private var endsComments = true
  private var tag: XMLTag

  init(_ html: Bytes) {
    self.html = html
    tag = XMLTag(bytes: html, isXML: false)
  }

  mutating func next() -> Image? {
    while let start = html.firstIndex(of: UInt8(ascii: "<"), from: index, to: html.count) {
      index = start + 1
      if html.starts(with: "<!--", at: start) {
        // A comment without an end is not a comment, and neither are those after it.
        if endsComments, let end = html.part(start, html.count).firstRange(of: "-->") {
          index = start + end + 3
        } else {
          endsComments = false
        }
        continue
      }
      guard html.startsIgnoringCase(with: "img", at: index), index + 3 < html.count,
        html[index + 3].isSpace || html[index + 3] == UInt8(ascii: "/")
      else { continue }
      var repairs: Repairs = []
      let (end, problem) = tag.read(at: start, limits: (256, 1024), repairs: &repairs)
      guard problem == nil else { continue }
      index = end
      if let image = image { return image }
    }
    return nil
  }

  /// The picture of the tag; `nil` if it has none, or only a tracking or spacer pixel.
  private var image: Image? {
    let width = tag.rawValue("width")?.integer
    let height = tag.rawValue("height")?.integer
    if let width, let height, width <= 2, height <= 2 { return nil }
    if let style = tag.value("style"), Self.isTiny(style) { return nil }
    for name in ["srcset", "data-srcset"] as [StaticString] {
      if let set = value(name), let (address, width) = set.withBytes(Self.widest) {
        return Image(address: address, width: width)
      }
    }
    for name in ["data-src", "data-original", "data-lazy-src", "src"] as [StaticString] {
      guard let address = value(name), !address.withBytes({ $0.startsIgnoringCase(with: "data:") }) else { continue }
      return Image(address: address, width: width, height: height)
    }
    return nil
  }

  private func value(_ name: StaticString) -> [UInt8]? {
    guard let raw = tag.rawValue(name)?.trimmed, raw.count > 0 else { return nil }
    var decoded: [UInt8] = []
    Entities.append(raw, to: &decoded)
    return decoded
  }

  /// `width:1px;height:1px` and the like.
  private static func isTiny(_ style: String) -> Bool {
    let style = style.lowercased().filter { $0 != " " }
    return ["width:", "height:"].allSatisfy { name in
      style.split(separator: ";").contains { $0 == "\(name)0" || $0 == "\(name)1px" || $0 == "\(name)2px" }
    }
  }

  /// The address of a `srcset` with the greatest width or density (HTML Standard, section 4.8.4.3.10).
  private static func widest(_ set: Bytes) -> (address: [UInt8], width: Int?)? {
    var best: (address: [UInt8], size: Double, width: Int?)?
    var index = 0
    while index < set.count {
      while index < set.count, set[index].isSpace || set[index] == UInt8(ascii: ",") { index += 1 }
      let start = index
      // A comma ends an address only at its end: `data:` and others have commas in them.
      while index < set.count, !set[index].isSpace { index += 1 }
      var address = set.part(start, index)
      var descriptor = set.part(index, index)
      if address.last == UInt8(ascii: ",") {
        while address.last == UInt8(ascii: ",") { address = address.part(0, address.count - 1) }
      } else {
        let end = set.firstIndex(of: UInt8(ascii: ","), from: index, to: set.count) ?? set.count
        descriptor = set.part(index, end).trimmed
        index = end
      }
      guard address.count > 0, !address.startsIgnoringCase(with: "data:") else { continue }
      let size = Double(String(decoding: descriptor.dropLast(), as: UTF8.self)) ?? 1
      if best.map({ size > $0.size }) ?? true {
        let isWidth = descriptor.last == UInt8(ascii: "w") && size > 0 && size < 100_000
        best = (Array(address), size, isWidth ? Int(size) : nil)
      }
    }
    return best.map { ($0.address, $0.width) }
  }
}
