/// The image that represents a web page.
public enum PageImage {
  /// The number of bytes of a page that are read: 128 KiB.
  public static let mostBytes = 128 << 10

  /// The URL of the page's image: its `og:image`, or else its `twitter:image` or `<link rel="image_src">`, or else the
  /// largest of its `<img>` elements.
  ///
  /// If there is an `<article>`, or else a `<main>`, only the `<img>` elements after its start tag count. The `width`
  /// and `height` attributes specify the size; an `<img>` that is narrower than 100 pixels or less than 66 pixels high
  /// isn't used. If none has a size, the first one after that start tag is used. Logos and avatars, which are
  /// recognized by their URLs, and SVG images are never used.
  ///
  /// - Parameters:
  ///   - html: the page, of which the first ``mostBytes`` are read; it may be cut off anywhere.
  ///   - address: the page's final URL, which relative URLs are resolved against unless there is a `<base>`.
  /// - Returns: an absolute http or https URL; `nil` when the page has none.
  public static func address(inPage html: [UInt8], address: String?) -> String? {
    html.withUnsafeBufferPointer { html in
      let isCutOff = html.count >= mostBytes
      let html = html.part(0, min(html.count, mostBytes))
      var head = PageHead(html, address: address)
      return head.image() ?? largest(in: html, isCutOff: isCutOff, base: head.base)
    }
  }

  private static func largest(in html: Bytes, isCutOff: Bool, base: String?) -> String? {
    let article = html.firstRange(ofElement: "article") ?? html.firstRange(ofElement: "main")
    var images = HTMLImages(html.part(article ?? 0, html.count), isCutOff: isCutOff)
    var best: (address: String, area: Int)?
    while let image = images.next() {
      // Without a height, assume the usual proportions of 3:2.
      let width = image.width ?? 0
      let height = image.height ?? width * 2 / 3
      let isUnknown = image.width == nil && image.height == nil
      guard isUnknown ? article != nil : width >= shortest && height >= shortest * 2 / 3 else { continue }
      let area = isUnknown ? 1 : min(width, longest) * min(height, longest)
      guard area > best?.area ?? 0, let address = image.address.withBytes({ absoluteAddress($0, base: base) }),
        mayShow(address)
      else { continue }
      best = (address, area)
    }
    return best?.address
  }

  private static let shortest = 100
  private static let longest = 100_000

  /// False for site decorations, and for vector drawings, which are never rendered.
  static func mayShow(_ address: String) -> Bool {
    let path = address.lowercased().prefix { $0 != "?" && $0 != "#" }
    guard !path.hasSuffix(".svg"), !path.hasSuffix(".svgz") else { return false }
    let words = path.split { !$0.isLetter }
    return !words.contains { decorations.contains($0) }
  }

  private static let decorations: Set<Substring> = [
    "logo", "logos", "avatar", "avatars", "gravatar", "favicon", "icon", "icons", "emoji", "sprite", "spacer", "pixel",
    "badge", "badges", "blank", "placeholder", "spinner", "loading",
  ]
}

/// Reads the images that a page's metadata specifies.
private struct PageHead {
  private var elements: PageElements
  /// The base of the page's relative URLs.
  private(set) var base: String?
  /// The images, as written; the first of each kind.
  private var named: [String: String] = [:]

  /// The kinds of metadata that specify the page's image, best first.
  private static let kinds = [
    "og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src", "image_src",
  ]

  init(_ html: Bytes, address: String?) {
    elements = PageElements(html, named: ["meta", "link", "base"])
    base = baseAddress(address)
  }

  mutating func image() -> String? {
    while let element = elements.next() {
      let tag = elements.tag
      switch element {
      case "base": base = baseAddress(elements.address("href", base: base)) ?? base
      case "link": note(tag.value("rel"), tag.value("href"))
      default: note(tag.value("property") ?? tag.value("name"), tag.value("content"))
      }
    }
    for kind in Self.kinds {
      let address = named[kind]?.withBytes { absoluteAddress($0, base: base) }
      if let address, PageImage.mayShow(address) { return address }
    }
    return nil
  }

  private mutating func note(_ kind: String?, _ address: String?) {
    guard let kind = kind?.lowercased(), Self.kinds.contains(kind), let address, !address.isEmpty else { return }
    named[kind] = named[kind] ?? address
  }
}

extension Bytes {
  /// The position of the first opening tag with the given name.
  fileprivate func firstRange(ofElement name: StaticString) -> Int? {
    var elements = PageElements(self, named: [name])
    return elements.next().map { _ in elements.tag.source.lowerBound }
  }
}
