import Foundation
import ImageFeed
import PlainText

/// The page, which is complete without the script. The script keeps the page up to date.
enum GalleryPage {
  /// The number of images per page.
  static let step = 60
  /// The maximum number of unreachable feeds that are named; if there are more, only their number is shown.
  private static let mostNamed = 2

  /// A part of the gallery, and the links to other parts.
  struct Part {
    var entries: [Gallery.Entry]
    var query = GalleryQuery()
    fileprivate var title = "Images"
    fileprivate var current = "/"
    fileprivate var empty = ""
    fileprivate var links = ""
    /// True if there is a history with stars and former items.
    fileprivate var hasHistory = true
    /// The URL of this part, to which a star's form returns; by default, the URL of the query's first page.
    var address: String?

    /// The current images of the feeds, latest first.
    ///
    /// - Parameters:
    ///   - start: the number of the first image, from 0.
    ///   - last: the last card of the page before this one. If it still exists, this page begins after it, no matter
    ///     how many items were added or removed in the meantime.
    ///   - hasPast: true if the feeds' former items can be shown after the current ones.
    init(latestOf gallery: Gallery, from start: Int, after last: String? = nil, hasPast: Bool = false) {
      let all = gallery.entries
      let place = last.flatMap { last in all.firstIndex { $0.card == last } }
      let start = place.map { $0 + 1 } ?? min(max(start, 0), all.count)
      let shown = all[start..<min(start + step, all.count)]
      entries = Array(shown)
      hasHistory = hasPast
      empty = gallery.sources.contains { $0.isLoading } ? "Loading…" : "There are no images."
      if start > 0 { links = "<a rel=\"first\" href=\"/\">The latest</a>" }
      if shown.endIndex < all.count, let last = shown.last?.card {
        links += "<a id=\"more\" rel=\"next\" href=\"/?from=\(shown.endIndex)&amp;after=\(last)\">Load more</a>"
      } else if hasPast {
        links += "<a id=\"more\" rel=\"next\" href=\"/?past=1\">Former items</a>"
      }
    }

    /// A part of the history.
    ///
    /// - Parameter next: the position of the next part.
    init(_ entries: [Gallery.Entry], of query: GalleryQuery, next: GalleryQuery.Position?, in gallery: Gallery) {
      (self.entries, self.query) = (entries, query)
      title = Self.title(of: query, gallery)
      current = query.hasWords ? "" : query.isNew ? "/?new=1" : query.isStarred ? "/?starred=1" : ""
      empty = "No matches."
      let more = next.map {
        "<a id=\"more\" rel=\"next\" href=\"\(query.address(after: $0).markup)\">Load more</a>"
      }
      links = (more ?? "") + "<a rel=\"first\" href=\"/\">The latest</a>"
    }

    private static func title(of query: GalleryQuery, _ gallery: Gallery) -> String {
      let kind =
        query.hasWords
        ? "Search" : query.isNew ? "New" : query.isStarred ? "Starred" : query.isPast ? "Former items" : nil
      let feed = query.feed.flatMap(gallery.place).map { gallery.sources[$0].name }
      let parts = [kind, query.folder?.printable(limit: 100), feed].compactMap { $0 }
      return parts.isEmpty ? "One feed" : parts.joined(separator: " · ")
    }
  }

  static func text(_ gallery: Gallery, _ part: Part) -> String {
    let (now, names) = (Date(), gallery.feedNames)
    let list = part.entries.enumerated().map { place, entry in
      GalleryCard(
        entry: entry, gallery: gallery, feedNames: names, now: now, isFirst: place < 8, canStar: part.hasHistory
      ).markup
    }
    let title = part.title.markup
    return frame(
      gallery, title: title, current: part.current, hasStars: part.hasHistory,
      search: part.hasHistory ? GalleryFilter.search(part.query) : "",
      filter: part.hasHistory ? GalleryFilter.markup(gallery, part.query) : "", query: part.query,
      """
      <ul id="gallery" aria-label="\(title)">
      \(list.joined())</ul>
      \(list.isEmpty ? "<p id=\"empty\">\(part.empty)</p>" : "")
      <div class="pages">\(part.links)</div>
      \(part.hasHistory ? stars(gallery, part) : "")
      <button id="news" type="button" hidden></button>
      <p id="said" class="unseen" role="status"></p>
      \(PageDialogs.markup)
      """)
  }

  /// The form to which all stars belong, for browsers without JavaScript.
  private static func stars(_ gallery: Gallery, _ part: Part) -> String {
    """
    <form id="stars" method="post" action="/star"><input type="hidden" name="key" value="\(gallery.formKey)">\
    <input type="hidden" name="back" value="\((part.address ?? part.query.address()).markup)"></form>
    """
  }

  /// The text that says how long a feed has been failing to load from its server.
  static func failing(_ source: Gallery.Source, _ now: Date) -> String {
    let since = source.failingSince.map { " since \(time($0, now))" } ?? ""
    return (source.answers ? "failing" : "unreachable") + since
  }

  /// The time of day, with the date if it was more than a day ago. The script shows the time in the user's own time
  /// zone.
  private static func time(_ date: Date, _ now: Date) -> String {
    let text = now.timeIntervalSince(date) < 86_400 ? String(date.timeOfDay.prefix(5)) : date.dayAndTime
    return "<time class=\"clock\" datetime=\"\(date.stamp)\">\(text)</time>"
  }

  /// An age, which the script keeps up to date.
  static func age(_ date: Date, _ now: Date) -> String {
    "<time datetime=\"\(date.stamp)\">\(Duration.seconds(max(0, Int(now.timeIntervalSince(date)))).ago)</time>"
  }

  /// The frame that all pages have in common.
  static func frame(
    _ gallery: Gallery, title: String, current: String, hasStars: Bool = false, search: String = "",
    filter: String = "", query: GalleryQuery = GalleryQuery(), _ body: String
  ) -> String {
    func link(_ path: String, _ text: String) -> String {
      "<a href=\"\(path)\"\(path == current ? " aria-current=\"page\"" : "")>\(text)</a>"
    }
    let bar = bar(gallery)
    let (json, atom) = (query.address(of: "/feed.json").markup, query.address(of: "/feed.atom").markup)
    let own = hasStars ? link("/?new=1", "New") + " " + link("/?starred=1", "Starred") + " " : ""
    let images = gallery.sources.reduce(0) { $0 + $1.entries.count }
    let feeds = gallery.sources.count
    // If other processes load the feeds, all saved feeds arrive at once. After a pause that a host has requested, a feed
    // arrives hours later, so an open page waits for at most ten minutes.
    let isLoading =
      gallery.every != nil && -gallery.started.timeIntervalSinceNow < 600
      && gallery.sources.contains(where: \.isLoading)
    return """
      \(PageHead.beginning(title, colors: "light dark"))
      <link rel="alternate" type="application/feed+json" title="JSON Feed" href="\(json)">
      <link rel="alternate" type="application/atom+xml" title="Atom" href="\(atom)">
      <script src="/script.js" defer></script>
      </head>
      <body data-version="\(gallery.version)" data-run="\(gallery.run)"\(isLoading ? " data-loading=\"1\"" : "")>
      <a class="skip" href="#main">Skip to content</a>
      <header><a class="brand" href="/"><img src="/icon.svg" alt="" width="28" height="28">feed</a>
      <nav aria-label="Pages">\(link("/", "Images")) \(own)\(link("/health", "Health"))</nav>
      <p id="count">\(count(images, "image")) of \(count(feeds, "feed"))</p>
      \(search)</header>
      <div id="bar" role="status"\(bar.isEmpty ? " hidden" : "")>\(bar)</div>
      \(filter)
      <main id="main" tabindex="-1">
      <h1 class="unseen">\(title)</h1>
      \(body)
      </main>
      <footer><p>\(gallery.every.map { "Checked every \($0.text) by default. " } ?? "")\
      <a href="\(query.address(of: "/slideshow").markup)">Slideshow</a> · \
      <a href="\(json)">JSON Feed</a> · <a href="\(atom)">Atom</a></p></footer>
      </body>
      </html>

      """
  }

  /// The bar that lists the unreachable feeds, and since when they have been unreachable.
  private static func bar(_ gallery: Gallery) -> String {
    let (failing, now) = (gallery.sources.filter { $0.trouble != nil }, Date())
    guard !failing.isEmpty else { return "" }
    let named = failing.prefix(mostNamed).map { source in
      let name = source.failingName(among: gallery.sources).markup
      let state =
        "has been \(Self.failing(source, now))" + (source.entries.isEmpty ? "" : "; its saved images are shown")
      return "<bdi>\(name)</bdi> \(source.isPart ? "sent only part of its feed" : state)."
    }
    let word = failing.contains(where: \.answers) ? "failing" : "unreachable"
    let text =
      failing.count > mostNamed
      ? "\(failing.count) of \(gallery.sources.count) feeds are \(word)." : named.joined(separator: " ")
    return "\(text) <a href=\"/health\">Why?</a>"
  }

  private static func count(_ count: Int, _ word: String) -> String {
    "\(number(count)) \(word)\(count == 1 ? "" : "s")"
  }

  /// The number with commas between groups of three digits.
  static func number(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.reduce(into: "") { text, index in
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digits[index])
    }
  }
}
