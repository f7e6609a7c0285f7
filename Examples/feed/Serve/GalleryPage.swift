import Foundation
import ImageFeed
import PlainText

/// The page, complete as it is; its script only keeps it up to date.
enum GalleryPage {
  /// How many pictures are on one page.
  static let step = 60
  /// How many feeds that are away are named; of more, their number is given.
  private static let mostNamed = 2

  /// - Parameters:
  ///   - start: the number of the first picture, from 0.
  ///   - last: the card that the page before this ended with. If it is still there, the page begins after it, however
  ///     many came or went meanwhile.
  ///   - hasPast: true when what the feeds had can be shown after what they have.
  static func text(
    _ gallery: Gallery, from start: Int, after last: String? = nil, hasPast: Bool = false
  ) -> String {
    let entries = gallery.entries
    let place = last.flatMap { last in entries.firstIndex { $0.card == last } }
    let start = place.map { $0 + 1 } ?? min(max(start, 0), entries.count)
    let shown = entries[start..<min(start + step, entries.count)]
    let now = Date()
    var list = ""
    for (index, entry) in shown.enumerated() {
      list += card(entry, gallery, now, isFirst: index < 4, canStar: hasPast)
    }
    var empty = ""
    if list.isEmpty {
      let isLoading = gallery.sources.contains { $0.isLoading }
      empty = "<p id=\"empty\">\(isLoading ? "Loading…" : "There are no pictures.")</p>"
    }
    var links = start > 0 ? "<a rel=\"first\" href=\"/\">The latest</a>" : ""
    if shown.endIndex < entries.count, let last = shown.last?.card {
      links += "<a id=\"more\" rel=\"next\" href=\"/?from=\(shown.endIndex)&amp;after=\(last)\">Load more</a>"
    } else if hasPast {
      links += "<a id=\"more\" rel=\"next\" href=\"/?past=1\">What the feeds had</a>"
    }
    return page(gallery, title: "Pictures", current: "/", list, empty, links, now, hasSearch: hasPast)
  }

  /// A part of what was seen.
  ///
  /// - Parameter next: where the part after this one begins.
  static func text(_ gallery: Gallery, _ entries: [Gallery.Entry], of query: GalleryQuery, next: SeenPage.Place?)
    -> String
  {
    let now = Date()
    let list = entries.enumerated().map { card($1, gallery, now, isFirst: $0 < 4, canStar: true) }.joined()
    let empty = list.isEmpty ? "<p id=\"empty\">Nothing fits.</p>" : ""
    let more = next.map {
      "<a id=\"more\" rel=\"next\" href=\"\(query.address(after: $0).markup)\">Load more</a>"
    }
    let isPlain = query.words.isEmpty
    let title = !isPlain ? "Search" : query.isStarred ? "Starred" : query.isPast ? "What the feeds had" : "One feed"
    let current = isPlain && query.isStarred ? "/?starred=1" : ""
    return page(
      gallery, title: title, current: current, list, empty, (more ?? "") + "<a rel=\"first\" href=\"/\">The latest</a>",
      now, words: query.words)
  }

  private static func page(
    _ gallery: Gallery, title: String, current: String, _ list: String, _ empty: String, _ links: String, _ now: Date,
    words: String = "", hasSearch: Bool = true
  ) -> String {
    let search =
      """
      <form id="search" role="search" action="/"><label class="unseen" for="words">Search</label>\
      <input id="words" type="search" name="q" value="\(words.markup)" maxlength="200" placeholder="Search"></form>
      """
    return frame(
      gallery, title: title, current: current, hasStars: hasSearch, search: hasSearch ? search : "",
      """
      <ul id="gallery" aria-label="\(title)">
      \(list)</ul>
      <template id="origins">\(origins(gallery, now))</template>
      \(empty)
      <div class="pages">\(links)</div>
      <button id="news" type="button" hidden></button>
      <p id="said" class="unseen" role="status"></p>
      <dialog id="large" aria-label="A picture"><img alt=""><p></p>
      <div class="keys"><button type="button" value="previous">Previous</button>\
      <button type="button" value="next">Next</button><button type="button" value="close">Close</button></div></dialog>
      """)
  }

  private static func card(
    _ entry: Gallery.Entry, _ gallery: Gallery, _ now: Date, isFirst: Bool, canStar: Bool
  ) -> String {
    let source = gallery.sources[entry.source]
    let new = gallery.isNew(entry) ? "<span class=\"fresh\">new</span> " : ""
    let star =
      canStar
      ? """
      <button class="star" type="button" value="\(entry.card)" aria-pressed="\(gallery.isStarred(entry))" \
      aria-label="Star">★</button>
      """ : ""
    let description = entry.description.map { $0.printable(limit: 500).markup }
    let text = description ?? "A picture without a description"
    let alt = entry.post.alt?.printable(limit: 500).markup ?? text
    // The page that it leads to is told nothing of this one.
    let title =
      GalleryFeeds.link(entry).map { "<a class=\"post\" rel=\"noreferrer\" href=\"\($0.markup)\">\(text)</a>" } ?? text
    let place = entry.location.map { "<p class=\"place\"><bdi>\($0.printable(limit: 200).markup)</bdi></p>" } ?? ""
    let origin = origin(source, entry.source, now)
    let date = entry.date.map { age($0, now) } ?? ""
    let image = "/image/\(entry.key)?w="
    return """
      <li id="p\(entry.card)"><article\(description == nil ? " class=\"untitled\"" : "")>
      <a class="picture" href="\(image)1600"><img src="\(image)400" srcset="\(image)400 400w, \(image)800 800w" \
      sizes="(min-width: 40rem) 20rem, 100vw" loading="\(isFirst ? "eager" : "lazy")" decoding="async" alt="\(alt)"></a>
      <div class="text"><p class="description">\(new)<bdi>\(title)</bdi></p>\(place)\(star)
      <p class="about"><bdi class="source">\(source.name.markup)</bdi>\(date)\(origin)</p></div>
      </article></li>

      """
  }

  /// Where the pictures of a feed are from, with which the script finds those cards that no page it has asked for has.
  private static func origin(_ source: Gallery.Source, _ index: Int, _ now: Date) -> String {
    func span(_ kind: String, _ reason: String, _ text: String) -> String {
      let title = reason.isEmpty ? "" : " title=\"\(reason.markup)\""
      return "<span class=\"\(kind)\"\(title) data-feed=\"\(index)\">\(text)</span>"
    }
    return switch source.origin {
    case .loading, .server: span("origin", "", "from its server")
    case .kept(let date, let reason): span("origin", reason, "saved \(age(date, now))")
    case .saved(let date, let reason):
      span("origin away", reason, "saved \(age(date, now)): \(reason.markup)")
    case .part(let reason): span("origin away", reason, "not all of it: \(reason.markup)")
    case .nowhere(let reason): span("origin away", reason, "server away: \(reason.markup)")
    }
  }

  private static func origins(_ gallery: Gallery, _ now: Date) -> String {
    gallery.sources.enumerated().filter { !$1.entries.isEmpty }.map { origin($1, $0, now) }.joined()
  }

  /// An age, which the script lets grow.
  static func age(_ date: Date, _ now: Date) -> String {
    "<time datetime=\"\(date.stamp)\">\(Duration.seconds(max(0, Int(now.timeIntervalSince(date)))).ago)</time>"
  }

  /// The frame of every page.
  static func frame(
    _ gallery: Gallery, title: String, current: String, hasStars: Bool = false, search: String = "", _ body: String
  ) -> String {
    func link(_ path: String, _ text: String) -> String {
      "<a href=\"\(path)\"\(path == current ? " aria-current=\"page\"" : "")>\(text)</a>"
    }
    let bar = bar(gallery)
    let pictures = gallery.entries.count
    let feeds = gallery.sources.count
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title) · feed</title>
      <link rel="stylesheet" href="/style.css">
      <link rel="icon" href="/icon.svg">
      <link rel="alternate" type="application/feed+json" title="JSON Feed" href="/feed.json">
      <link rel="alternate" type="application/atom+xml" title="Atom" href="/feed.atom">
      <script src="/script.js" defer></script>
      </head>
      <body data-version="\(gallery.version)" data-run="\(gallery.run)">
      <a class="skip" href="#main">To the content</a>
      <header><span class="brand"><img src="/icon.svg" alt="" width="28" height="28">feed</span>
      <nav aria-label="Pages">\(link("/", "Pictures")) \(hasStars ? link("/?starred=1", "Starred") + " " : "")\
      \(link("/health", "Health"))</nav>
      <p id="count">\(count(pictures, "picture")) of \(count(feeds, "feed"))</p></header>
      <div id="bar" role="status"\(bar.isEmpty ? " hidden" : "")>\(bar)</div>
      \(search)
      <main id="main" tabindex="-1">
      <h1 class="unseen">\(title)</h1>
      \(body)
      </main>
      <footer><p>Checked every \(gallery.every.text). \
      <a href="/feed.json">JSON Feed</a> · <a href="/feed.atom">Atom</a></p></footer>
      </body>
      </html>

      """
  }

  /// Which servers are away.
  private static func bar(_ gallery: Gallery) -> String {
    let away = gallery.sources.filter { $0.trouble != nil }
    guard !away.isEmpty else { return "" }
    let named = away.map { source in
      let state = source.entries.isEmpty ? "is away" : "is away; its saved pictures are shown"
      return "<bdi>\(source.name.markup)</bdi> \(source.isPart ? "sent only a part of its feed" : state)."
    }
    let text =
      away.count > mostNamed
      ? "\(away.count) of \(gallery.sources.count) feeds are away." : named.joined(separator: " ")
    return "\(text) <a href=\"/health\">Why</a>"
  }

  private static func count(_ count: Int, _ word: String) -> String {
    "\(number(count)) \(word)\(count == 1 ? "" : "s")"
  }

  /// With a comma before each three digits.
  static func number(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.reduce(into: "") { text, index in
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digits[index])
    }
  }
}
