import Foundation
import ImageFeed
import PlainText

/// The page, complete as it is; its script only keeps it up to date.
enum GalleryPage {
  /// How many pictures are on one page.
  static let step = 60

  static func text(_ gallery: Gallery, from start: Int) -> String {
    let entries = gallery.entries
    let start = min(max(start, 0), entries.count)
    let shown = entries[start..<min(start + step, entries.count)]
    let now = Date()
    var list = ""
    for (index, entry) in shown.enumerated() {
      list += card(entry, gallery.sources[entry.source], now, isFirst: index < 4)
    }
    let isLoading = gallery.sources.contains { $0.checks == 0 }
    let empty = list.isEmpty ? "<p id=\"empty\">\(isLoading ? "Loading…" : "There are no pictures.")</p>" : ""
    let next = start + step
    let more = next < entries.count ? "<a id=\"more\" rel=\"next\" href=\"/?from=\(next)\">Load more</a>" : ""
    return frame(
      gallery, title: "Pictures", current: "/",
      """
      <ul id="gallery" aria-label="Pictures">
      \(list)</ul>
      \(empty)\(more)
      """)
  }

  private static func card(_ entry: Gallery.Entry, _ source: Gallery.Source, _ now: Date, isFirst: Bool) -> String {
    let description = entry.description.map { $0.printable(limit: 500).markup }
    let place = entry.location.map { "<p class=\"place\"><bdi>\($0.printable(limit: 200).markup)</bdi></p>" } ?? ""
    let origin =
      switch source.origin {
      case .saved(let date, _): "saved \(age(date, now))"
      case .nowhere: "server away"
      default: "from its server"
      }
    return """
      <li id="p\(entry.key)" data-key="\(entry.key)"><article>
      <a class="picture" href="/image/\(entry.key)?w=1600"><img src="/image/\(entry.key)?w=400" \
      loading="\(isFirst ? "eager" : "lazy")" decoding="async" alt="\(description ?? "A picture without a description")"></a>
      <div class="text"><p class="description"><bdi>\(description ?? "A picture without a description")</bdi></p>\(place)
      <p class="about"><bdi>\(source.name.markup)</bdi> · <time datetime="\(entry.date.stamp)">\(age(entry.date, now))</time> · \
      \(origin)</p></div>
      </article></li>

      """
  }

  static func age(_ date: Date, _ now: Date) -> String {
    Duration.seconds(max(0, Int(now.timeIntervalSince(date)))).ago
  }

  /// What stands around every page.
  static func frame(_ gallery: Gallery, title: String, current: String, _ body: String) -> String {
    let away = gallery.sources.filter { $0.trouble != nil }
    let bar = away.map { source in
      "<bdi>\(source.name.markup)</bdi> is away\(source.entries.isEmpty ? "" : "; its saved pictures are shown")"
    }
    func link(_ path: String, _ text: String) -> String {
      "<a href=\"\(path)\"\(path == current ? " aria-current=\"page\"" : "")>\(text)</a>"
    }
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
      <header><h1>\(title)</h1><nav aria-label="Pages">\(link("/", "Pictures")) \(link("/health", "Health"))</nav></header>
      <div id="bar" role="status"\(bar.isEmpty ? " hidden" : "")>\(bar.joined(separator: ". "))</div>
      <main id="main" tabindex="-1">
      \(body)
      </main>
      <footer><p>\(gallery.sources.count) \(gallery.sources.count == 1 ? "feed" : "feeds"), looked at every \(gallery.every.text). \
      <a href="/feed.json">JSON Feed</a> · <a href="/feed.atom">Atom</a></p></footer>
      </body>
      </html>

      """
  }
}

/// How the feeds are.
enum HealthPage {
  static func text(_ gallery: Gallery) -> String {
    let now = Date()
    var rows = ""
    for source in gallery.sources {
      let state =
        switch source.origin {
        case .loading: "loading"
        case .server: "well"
        case .saved(let date, let reason): "away; saved \(GalleryPage.age(date, now)), because: \(reason.markup)"
        case .nowhere(let reason): "nothing to show: \(reason.markup)"
        }
      rows += """
        <tr><th scope="row"><bdi>\(source.name.markup)</bdi><br><small><bdi>\(source.address.shown.markup)</bdi></small></th>\
        <td class="\(source.trouble == nil ? "well" : "away")">\(state)</td>\
        <td>\(source.checked.map { GalleryPage.age($0, now) } ?? "never")</td><td>\(source.entries.count)</td>\
        <td>\(source.checks)</td><td>\(source.failures)</td></tr>

        """
    }
    return GalleryPage.frame(
      gallery, title: "Health", current: "/health",
      """
      <div class="scrolling" tabindex="0" role="region" aria-label="Feeds"><table>
      <thead><tr><th scope="col">Feed</th><th scope="col">State</th><th scope="col">Checked</th>\
      <th scope="col">Pictures</th><th scope="col">Checks</th><th scope="col">Failures</th></tr></thead>
      <tbody>
      \(rows)</tbody></table></div>
      """)
  }
}
