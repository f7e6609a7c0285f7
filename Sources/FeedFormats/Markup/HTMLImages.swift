/// The images in HTML text, in order: the `<img>` elements that show something, and aren't in a comment, a script, a
/// style, a text area or another tag's attribute.
///
/// An `<img>` without its own URL gets the URL of the widest image that the `<source>` elements in its `<picture>`
/// offer.
struct HTMLImages {
  struct Image {
    /// The URL as written, with entities resolved.
    var address: [UInt8]
    var width: Int?
    var height: Int?
    /// The `alt` attribute, or else the `title` attribute, on one line.
    var alt: String?
  }

  private let html: Bytes
  private let isCutOff: Bool
  private var index = 0
  private var endsComments = true
  /// The kinds of scripts, styles and text areas that have no end tag after the current index.
  private var missing: Set<Int> = []
  private var tag: XMLTag
  /// The URL of the widest image so far in the current `<picture>`.
  private var offered: (address: [UInt8], width: Int?)?

  /// - Parameter isCutOff: true if the text is only a beginning, so that an element without an end tag may have one.
  init(_ html: Bytes, isCutOff: Bool = false) {
    self.html = html
    self.isCutOff = isCutOff
    tag = XMLTag(bytes: html, isXML: false)
  }

  mutating func next() -> Image? {
    while let start = html.firstIndex(of: UInt8(ascii: "<"), from: index, to: html.count) {
      index = start + 1
      if html.starts(with: "<!--", at: start) {
        // Without an end, this isn't a comment, and neither is any later `<!--`, unless the end is cut off.
        if endsComments, let end = html.firstRange(of: "-->", from: start) {
          index = end + 3
        } else if isCutOff {
          index = html.count
        } else {
          endsComments = false
        }
        continue
      }
      if let kind = html.rawTextKind(at: start), !missing.contains(kind) {
        let end = html.endOfRawText(kind, at: start)
        if end < html.count || isCutOff {
          index = end
          continue
        }
        // Only the start tag is skipped, and no later element of this kind is searched for its end.
        missing.insert(kind)
      }
      if html.beginsTag("picture", at: index) || html.startsIgnoringCase(with: "/picture", at: index) { offered = nil }
      let isImage = html.beginsTag("img", at: index)
      let isSource = html.beginsTag("source", at: index)
      // Every tag is read, because another tag's attributes may contain `<script>` or `<img>`.
      guard index < html.count, html[index].isLetter, let end = tag.readInHTML(at: start, attributes: 256) else {
        continue
      }
      index = end
      if isImage {
        if var image = image {
          image.alt = alt
          return image
        }
      } else if isSource, let wide = widest, wide.width ?? 0 > offered?.width ?? -1 {
        offered = wide
      }
    }
    return nil
  }

  /// The tag's image; `nil` if it has no image, or only a tracking or spacer pixel.
  private var image: Image? {
    let (width, height) = (length("width"), length("height"))
    if let width, let height, width <= 2, height <= 2 { return nil }
    if let style = tag.value("style"), Self.isTiny(style) { return nil }
    if let (address, width) = widest { return Image(address: address, width: width) }
    for name in ["data-src", "data-original", "data-lazy-src", "src"] as [StaticString] {
      guard let address = value(name), !address.withBytes({ $0.startsIgnoringCase(with: "data:") }) else { continue }
      return Image(address: address, width: width, height: height)
    }
    return offered.map { Image(address: $0.address, width: $0.width) }
  }

  /// The text that takes the image's place.
  private var alt: String? {
    for name in ["alt", "title"] as [StaticString] {
      if let text = tag.value(name).map(plainLine), !text.isEmpty { return text }
    }
    return nil
  }

  /// A length in pixels; `nil` for a percentage.
  private func length(_ name: StaticString) -> Int? {
    guard let value = tag.rawValue(name)?.trimmed, value.last != UInt8(ascii: "%") else { return nil }
    return value.integer
  }

  /// The URL of the widest image in the tag's `srcset`, `data-srcset` and `data-lazy-srcset` attributes. If a page
  /// loads images lazily, `srcset` itself may list only a small image.
  private var widest: (address: [UInt8], width: Int?)? {
    var best: (address: [UInt8], size: Double, width: Int?)?
    for name in ["srcset", "data-srcset", "data-lazy-srcset"] as [StaticString] {
      guard let set = value(name), let found = set.withBytes(Self.widest) else { continue }
      if best.map({ found.size > $0.size }) ?? true { best = found }
    }
    return best.map { ($0.address, $0.width) }
  }

  private func value(_ name: StaticString) -> [UInt8]? {
    guard let raw = tag.rawValue(name)?.trimmed, raw.count > 0 else { return nil }
    var decoded: [UInt8] = []
    Entities.append(raw, to: &decoded)
    return decoded
  }

  /// True for styles such as `width:1px;height:1px`.
  private static func isTiny(_ style: String) -> Bool {
    let style = style.lowercased().filter { $0 != " " }
    return ["width:", "height:"].allSatisfy { name in
      style.split(separator: ";").contains { $0 == "\(name)0" || $0 == "\(name)1px" || $0 == "\(name)2px" }
    }
  }

  /// The URL in a `srcset` that has the greatest width or density (HTML Standard, section 4.8.4.3.10).
  private static func widest(_ set: Bytes) -> (address: [UInt8], size: Double, width: Int?)? {
    var best: (address: [UInt8], size: Double, width: Int?)?
    var index = 0
    while index < set.count {
      while index < set.count, set[index].isSpace || set[index] == UInt8(ascii: ",") { index += 1 }
      let start = index
      // A comma ends a URL only as its last character, because `data:` URLs and others contain commas.
      while index < set.count, !set[index].isSpace { index += 1 }
      var address = set.part(start, index)
      var descriptors = set.part(index, index)
      if address.last == UInt8(ascii: ",") {
        while address.last == UInt8(ascii: ",") { address = address.part(0, address.count - 1) }
      } else {
        let end = set.firstIndex(of: UInt8(ascii: ","), from: index, to: set.count) ?? set.count
        descriptors = set.part(index, end)
        index = end
      }
      guard address.count > 0, !address.startsIgnoringCase(with: "data:") else { continue }
      let (size, isWidth) = size(of: descriptors)
      if best.map({ size > $0.size }) ?? true { best = (Array(address), size, isWidth ? Int(size) : nil) }
    }
    return best
  }

  /// `800w`, `800w 600h`, `2x`; a height is ignored, and without a width or a density, the density is 1.
  private static func size(of descriptors: Bytes) -> (Double, isWidth: Bool) {
    for descriptor in descriptors.split(whereSeparator: \.isSpace) {
      let isWidth = descriptor.last == UInt8(ascii: "w")
      guard isWidth || descriptor.last == UInt8(ascii: "x"),
        let size = Double(String(decoding: descriptor.dropLast(), as: UTF8.self)), size > 0, size < 100_000
      else { continue }
      return (size, isWidth)
    }
    return (1, false)
  }
}
