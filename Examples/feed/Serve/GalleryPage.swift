import Foundation
import ImageFeed
import PlainText

/// The page, complete as it is; its script only keeps it up to date.
enum GalleryPage {
  /// How many pictures are on one page.
  static let step = 60
  /// How many feeds that are unreachable are named; of more, their number is given.
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
    return page(
      gallery, title: title(of: query, gallery), current: current(query), list, empty,
      (more ?? "") + "<a rel=\"first\" href=\"/\">The latest</a>", now, query)
  }

  private static func title(of query: GalleryQuery, _ gallery: Gallery) -> String {
    let kind =
      query.hasWords
      ? "Search" : query.isNew ? "New" : query.isStarred ? "Starred" : query.isPast ? "What the feeds had" : nil
    let feed = query.feed.flatMap { gallery.sources.indices.contains($0) ? gallery.sources[$0].name : nil }
    let parts = [kind, query.folder?.printable(limit: 100), feed].compactMap { $0 }
    return parts.isEmpty ? "One feed" : parts.joined(separator: " · ")
  }

  /// Which link of the header a part is under.
  private static func current(_ query: GalleryQuery) -> String {
    query.hasWords ? "" : query.isNew ? "/?new=1" : query.isStarred ? "/?starred=1" : ""
  }

  private static func page(
    _ gallery: Gallery, title: String, current: String, _ list: String, _ empty: String, _ links: String, _ now: Date,
    _ query: GalleryQuery = GalleryQuery(), hasSearch: Bool = true
  ) -> String {
    let title = title.markup
    return frame(
      gallery, title: title, current: current, hasStars: hasSearch,
      search: hasSearch ? search(query) + folders(gallery, query) : "", query: query,
      """
      <ul id="gallery" aria-label="\(title)">
      \(list)</ul>
      <template id="origins">\(origins(gallery, now))</template>
      \(empty)
      <div class="pages">\(links)</div>
      <button id="news" type="button" hidden></button>
      <p id="said" class="unseen" role="status"></p>
      <dialog id="large" aria-label="A picture"><img alt=""><p class="reason" role="status"></p><p class="words"></p>
      <p class="links"></p>
      <div class="keys"><button type="button" value="previous">Previous</button>\
      <button type="button" value="next" autofocus>Next</button><button type="button" value="close">Close</button></div></dialog>
      """)
  }

  /// The field for words, which looks in the part that is shown.
  private static func search(_ query: GalleryQuery) -> String {
    let others = query.items.filter { $0.name != "q" && $0.name != "past" }
    let fields = others.map {
      "<input type=\"hidden\" name=\"\($0.name)\" value=\"\(($0.value ?? "").markup)\">"
    }
    return
      """
      <form id="search" role="search" action="/"><label class="unseen" for="words">Search</label>\
      <input id="words" type="search" name="q" value="\(query.words.markup)" maxlength="200" placeholder="Search">\
      \(fields.joined())</form>
      """
  }

  /// The folders of the feeds, as links; nothing when there are none.
  private static func folders(_ gallery: Gallery, _ query: GalleryQuery) -> String {
    let folders = gallery.folders
    guard !folders.isEmpty else { return "" }
    func link(_ folder: String?) -> String {
      let isShown = query.folder?.lowercased() == folder?.lowercased() && query.feed == nil
      let address = query.inFolder(folder).address().markup
      let mark = isShown ? " aria-current=\"true\"" : ""
      return "<a href=\"\(address)\"\(mark)><bdi>\((folder ?? "All feeds").printable(limit: 100).markup)</bdi></a>"
    }
    return "\n<nav id=\"folders\" aria-label=\"Folders\">\(link(nil)) \(folders.map(link).joined(separator: " "))</nav>"
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
    let own = source.name.markup
    let name =
      canStar
      ? "<a class=\"source\" href=\"/?feed=\(entry.source)\"><bdi>\(own)</bdi></a>"
      : "<bdi class=\"source\">\(own)</bdi>"
    let origin = origin(source, entry.source, now)
    let date = entry.date.map { age($0, now) } ?? ""
    let image = "/image/\(entry.key)?w="
    return """
      <li id="p\(entry.card)"><article\(description == nil ? " class=\"untitled\"" : "")>
      <a class="picture" href="\(image)1600"><img src="\(image)400" srcset="\(image)400 400w, \(image)800 800w" \
      sizes="(min-width: 40rem) 20rem, 100vw" loading="\(isFirst ? "eager" : "lazy")" decoding="async" alt="\(alt)"></a>
      <div class="text"><p class="description">\(new)<bdi>\(title)</bdi></p>\(place)\(star)
      <p class="about">\(name)\(date)\(origin)</p></div>
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
    // That all is well need not be said on each card.
    case .loading, .server: "<span class=\"origin\" data-feed=\"\(index)\" hidden>OK</span>"
    case .kept(let date, let reason): span("origin", reason, "saved \(age(date, now))")
    // Since when and why is said once, above all cards and on the page of health.
    case .saved(let date, let reason): span("origin failing", reason, "saved \(age(date, now))")
    case .part(let reason): span("origin failing", reason, "only a part arrived")
    case .nowhere(let reason): span("origin failing", reason, failing(source, now))
    }
  }

  /// Since when there is nothing from the server of a feed.
  static func failing(_ source: Gallery.Source, _ now: Date) -> String {
    let since = source.failingSince.map { " since \(time($0, now))" } ?? ""
    return (source.answers ? "failing" : "unreachable") + since
  }

  /// A time of day, or with its day when that was more than a day ago. The script shows it in the reader's own time zone.
  private static func time(_ date: Date, _ now: Date) -> String {
    let text = now.timeIntervalSince(date) < 86_400 ? String(date.timeOfDay.prefix(5)) : date.dayAndTime
    return "<time class=\"clock\" datetime=\"\(date.stamp)\">\(text)</time>"
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
    _ gallery: Gallery, title: String, current: String, hasStars: Bool = false, search: String = "",
    query: GalleryQuery = GalleryQuery(), _ body: String
  ) -> String {
    func link(_ path: String, _ text: String) -> String {
      "<a href=\"\(path)\"\(path == current ? " aria-current=\"page\"" : "")>\(text)</a>"
    }
    let bar = bar(gallery)
    let (json, atom) = (query.address(of: "/feed.json").markup, query.address(of: "/feed.atom").markup)
    let own = hasStars ? link("/?new=1", "New") + " " + link("/?starred=1", "Starred") + " " : ""
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
      <link rel="alternate" type="application/feed+json" title="JSON Feed" href="\(json)">
      <link rel="alternate" type="application/atom+xml" title="Atom" href="\(atom)">
      <script src="/script.js" defer></script>
      </head>
      <body data-version="\(gallery.version)" data-run="\(gallery.run)">
      <a class="skip" href="#main">To the content</a>
      <header><span class="brand"><img src="/icon.svg" alt="" width="28" height="28">feed</span>
      <nav aria-label="Pages">\(link("/", "Pictures")) \(own)\(link("/health", "Health"))</nav>
      <p id="count">\(count(pictures, "picture")) of \(count(feeds, "feed"))</p></header>
      <div id="bar" role="status"\(bar.isEmpty ? " hidden" : "")>\(bar)</div>
      \(search)
      <main id="main" tabindex="-1">
      <h1 class="unseen">\(title)</h1>
      \(body)
      </main>
      <footer><p>Checked every \(gallery.every.text). \
      <a href="\(json)">JSON Feed</a> · <a href="\(atom)">Atom</a></p></footer>
      </body>
      </html>

      """
  }

  /// Which servers are unreachable, and since when.
  private static func bar(_ gallery: Gallery) -> String {
    let (failing, now) = (gallery.sources.filter { $0.trouble != nil }, Date())
    guard !failing.isEmpty else { return "" }
    let named = failing.map { source in
      let state = "is \(Self.failing(source, now))" + (source.entries.isEmpty ? "" : "; its saved pictures are shown")
      return "<bdi>\(source.name.markup)</bdi> \(source.isPart ? "sent only a part of its feed" : state)."
    }
    let word = failing.contains(where: \.answers) ? "failing" : "unreachable"
    let text =
      failing.count > mostNamed
      ? "\(failing.count) of \(gallery.sources.count) feeds are \(word)." : named.joined(separator: " ")
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
