import Foundation
import ImageFeed
import PlainText

/// One item on the page.
struct GalleryCard {
  let entry: Gallery.Entry
  let gallery: Gallery
  /// The names by which URLs refer to the feeds.
  let feedNames: [String]
  let now: Date
  /// True for the cards at the top, whose images aren't loaded lazily.
  let isFirst: Bool
  let canStar: Bool

  /// The maximum height of a row of tiles, in rem, with some room for tiles that grow. The width for which a browser
  /// chooses an image is computed from this height.
  private static let width = 19.0
  private static let longestWords = 400

  private var facts: ImageFacts? { gallery.facts[entry.key] }

  var markup: String {
    let source = gallery.sources[entry.source]
    let new = gallery.isNew(entry) ? "<span class=\"fresh\">new</span> " : ""
    let description = entry.description.map { $0.printableLine(limit: 300).markup }
    let text = description ?? "An image without a description"
    // `noreferrer` hides this page's URL from the linked page.
    let title =
      GalleryFeeds.link(entry).map { "<a class=\"post\" rel=\"noreferrer\" href=\"\($0.markup)\">\(text)</a>" } ?? text
    let own = source.name.markup
    let name =
      canStar
      ? "<a class=\"source\" href=\"/feed/\(feedNames[entry.source])\"><bdi>\(own)</bdi></a>"
      : "<bdi class=\"source\">\(own)</bdi>"
    let date = entry.date.map { " " + GalleryPage.age($0, now) } ?? ""
    let classes = facts.map { LayoutRatio.classes(width: $0.size.width, height: $0.size.height) } ?? LayoutRatio.unknown
    let ground = facts?.isOnGround == true ? " clear" : ""
    return """
      <li id="p\(entry.card)" class="\(classes)\(ground)"><article\(description == nil ? " class=\"untitled\"" : "")>
      <a class="image" href="\(Self.place(entry.key, facts))">\(shade)\(image(alt: alt(or: text)))</a>\
      \(set)\(badge)\(star)
      <div class="text"><p class="description">\(new)<bdi>\(title)</bdi></p>
      <p class="about">\(name)\(date)</p></div>\(words)
      </article></li>

      """
  }

  private func alt(or text: String) -> String { entry.post.alt?.printable(limit: 300).markup ?? text }

  /// The color of the image until it is loaded. It is an SVG attribute, because the page's policy forbids inline
  /// styles.
  private var shade: String {
    facts.map { String(format: "<svg class=\"shade\" color=\"#%06x\" aria-hidden=\"true\"></svg>", $0.color) } ?? ""
  }

  /// The image tag with all available sizes: those of the ladder that are smaller than the original, and the original.
  private func image(alt: String) -> String {
    let place = "/image/\(entry.key)?w="
    let (size, widths): (String, [Int])
    let shown: Double
    if let facts {
      let (width, height) = (facts.size.width, facts.size.height)
      size = " width=\"\(width)\" height=\"\(height)\""
      widths = SizedImageLoader.ladder.filter { $0 < width } + (width <= 1600 ? [width] : [])
      shown = Double(width) / Double(max(height, 1))
    } else {
      (size, widths, shown) = ("", [400, 800], 1.5)
    }
    let isSmall = facts.map { LayoutRatio.isSmall(width: $0.size.width, height: $0.size.height) } ?? false
    // With this density, the natural size of a small image, which is its maximum size on the page, is twice its pixels.
    let set =
      isSmall ? "\(place)800 \(facts?.size.width ?? 1)w" : widths.map { "\(place)\($0) \($0)w" }.joined(separator: ", ")
    let rem = Int((min(max(shown, 0.5), 3) * Self.width).rounded(.up))
    let sizes = isSmall ? "\(2 * (facts?.size.width ?? 1))px" : "(max-width: 36rem) 47vw, \(rem)rem"
    return """
      <img src="\(place)400" srcset="\(set)" sizes="\(sizes)"\(size) \
      loading="\(isFirst ? "eager" : "lazy")" decoding="async" alt="\(alt)">
      """
  }

  /// The URL of the image that fills the window. An animation uses the original, because its smaller sizes are still
  /// images.
  static func place(_ key: String, _ facts: ImageFacts?) -> String {
    facts?.isAnimated == true ? "/image/\(key)" : "/image/\(key)?w=1600"
  }

  /// The other images, as links. The script steps through them, but the links also work without the script.
  private var set: String {
    guard !entry.others.isEmpty else { return "" }
    let links = entry.others.enumerated().map { number, image in
      let alt = image.alt?.printable(limit: 300).markup
      let place = Self.place(image.key, gallery.facts[image.key])
      let text = alt ?? "Image \(number + 2)"
      return "<li><a href=\"\(place)\"\(alt.map { " data-alt=\"\($0)\"" } ?? "")>\(text)</a></li>"
    }
    let count = entry.others.count + 1
    return """

      <details class="set"><summary aria-label="\(count) images">\(count)</summary>\
      <ol start="2">\(links.joined())</ol></details>
      """
  }

  private var badge: String {
    guard facts?.isAnimated == true else { return "" }
    return "<span class=\"badge\">\(entry.imageURL.pathExtension.lowercased() == "gif" ? "GIF" : "animated")</span>"
  }

  private var star: String {
    guard canStar else { return "" }
    return """

      <button class="star" form="stars" name="card" value="\(entry.card)" aria-pressed="\(gallery.isStarred(entry))" \
      aria-label="Star">★</button>
      """
  }

  /// The text and the place, which the enlarged view shows.
  private var words: String {
    let texts = [entry.post.text == entry.description ? nil : entry.post.text, entry.location].compactMap { $0 }
    guard !texts.isEmpty else { return "" }
    let line = texts.joined(separator: " · ").printableLine(limit: Self.longestWords)
    return "\n<p class=\"words\" hidden>\(line.markup)</p>"
  }
}
