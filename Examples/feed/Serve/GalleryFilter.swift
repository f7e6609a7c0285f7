import Foundation
import PlainText

/// The bar above the images, with folders and feeds as links.
enum GalleryFilter {
  /// The maximum number of feeds to list; if there are more, the health page lists all of them.
  private static let mostFeeds = 200

  static func markup(_ gallery: Gallery, _ query: GalleryQuery) -> String {
    let folders = gallery.folders
    guard gallery.sources.count > 1 else { return "" }
    func link(_ folder: String?) -> String {
      let isShown = query.folder?.lowercased() == folder?.lowercased() && query.feed == nil
      let address = query.inFolder(folder).address().markup
      let mark = isShown ? " aria-current=\"true\"" : ""
      return "<a href=\"\(address)\"\(mark)><bdi>\((folder ?? "All feeds").printable(limit: 100).markup)</bdi></a>"
    }
    return """
      <nav id="filter" aria-label="Feeds">\(link(nil)) \(folders.map(link).joined(separator: " ")) \(feeds(gallery, query))</nav>
      """
  }

  private static func feeds(_ gallery: Gallery, _ query: GalleryQuery) -> String {
    guard gallery.sources.count <= mostFeeds else { return "<a href=\"/health\">One feed…</a>" }
    let places = query.folder.map { folder in gallery.sources.indices.filter { gallery.sources[$0].isIn(folder) } }
    let (names, chosen) = (gallery.feedNames, query.feed.flatMap(gallery.place))
    let links = (places ?? Array(gallery.sources.indices)).map { place in
      let mark = place == chosen ? " aria-current=\"true\"" : ""
      return "<li><a href=\"/feed/\(names[place])\"\(mark)><bdi>\(gallery.sources[place].name.markup)</bdi></a></li>"
    }
    let shown = chosen.map { gallery.sources[$0].name.markup }
    return "<details><summary><bdi>\(shown ?? "One feed")</bdi></summary><ul>\(links.joined())</ul></details>"
  }

  /// The search field, which searches the part that is shown.
  static func search(_ query: GalleryQuery) -> String {
    let others = query.items.filter { $0.name != "q" && $0.name != "past" }
    let fields = others.map {
      "<input type=\"hidden\" name=\"\($0.name)\" value=\"\(($0.value ?? "").escaped)\">"
    }
    return
      """
      <form id="search" role="search" action="/"><label class="unseen" for="words">Search</label>\
      <input id="words" type="search" name="q" value="\(query.words.escaped)" maxlength="200" placeholder="Search">\
      \(fields.joined())</form>
      """
  }
}
