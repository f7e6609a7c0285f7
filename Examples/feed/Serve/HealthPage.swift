import Foundation
import PlainText

/// The page with the status of the feeds.
enum HealthPage {
  private static func number(_ number: Int) -> String { "<td class=\"number\">\(GalleryPage.number(number))</td>" }

  static func text(_ gallery: Gallery) -> String {
    let now = Date()
    var rows = ""
    for source in gallery.sources {
      let state =
        switch source.origin {
        case .loading: "<td>loading"
        case .server: "<td class=\"well\">OK"
        case .kept(let date, let reason):
          "<td class=\"well\">OK; saved \(GalleryPage.age(date, now))<br><small><bdi>\(reason.markup)</bdi></small>"
        case .saved(let date, let reason):
          "<td class=\"failing\">\(GalleryPage.failing(source, now)); saved \(GalleryPage.age(date, now))"
            + "<br><small><bdi>\(reason.markup)</bdi></small>"
        case .part(let reason):
          "<td class=\"failing\">only part of the feed arrived; that part isn't saved<br><small><bdi>\(reason.markup)</bdi></small>"
        case .nowhere(let reason):
          "<td class=\"failing\">\(GalleryPage.failing(source, now)); nothing is saved"
            + "<br><small><bdi>\(reason.markup)</bdi></small>"
        }
      rows += """
        <tr><th scope="row"><bdi>\(source.name.markup)</bdi><br><small><bdi>\(source.address.shown.markup)</bdi></small></th>\
        \(state)</td><td>\(source.checked.map { GalleryPage.age($0, now) } ?? "never")</td>\
        \(number(source.entries.count))\(number(source.checks))\(number(source.failures))</tr>

        """
    }
    return GalleryPage.frame(
      gallery, title: "Health", current: "/health",
      """
      <div class="scrolling" tabindex="0" role="region" aria-label="Feeds"><table>
      <thead><tr><th scope="col">Feed</th><th scope="col">State</th><th scope="col">Checked</th>\
      <th scope="col" class="number">Images</th><th scope="col" class="number">Checks</th>\
      <th scope="col" class="number">Failures</th></tr></thead>
      <tbody>
      \(rows)</tbody></table></div>
      """)
  }
}
