extension FeedItem {
  /// The images of the item, without duplicates: first the chosen one, and then the others in document order.
  ///
  /// Feeds often list the same image in several places and sizes. The contents of one `media:group` represent one
  /// image, and so do URLs that differ only in the size that they request. Thumbnails, and images as small as an icon,
  /// are left out if there are other images. Each image has the first alternative text of its candidates.
  public var distinctImages: [FeedImageCandidate] {
    guard let chosen = image else { return [] }
    var (found, places): ([FeedImageCandidate], [String: Int]) = ([], [:])
    for (candidate, isChosen) in [(chosen, true)] + images.map({ ($0, false) }) {
      let keys = candidate.keys
      guard let place = keys.lazy.compactMap({ places[$0] }).first else {
        guard isChosen || candidate.isOfItsOwn else { continue }
        for key in keys { places[key] = found.count }
        found.append(candidate)
        continue
      }
      for key in keys where places[key] == nil { places[key] = place }
      found[place].alt = found[place].alt ?? candidate.alt
      // Keep the URL of the chosen image, because an item may be identified by it.
      if place > 0, candidate.width ?? 0 > found[place].width ?? 0 {
        (found[place].address, found[place].width, found[place].height) = (
          candidate.address, candidate.width, candidate.height
        )
      }
    }
    return found
  }
}

extension FeedImageCandidate {
  /// The names under which this image is known: two candidates that share a name are the same image.
  fileprivate var keys: [String] {
    [ImageName(address).text] + (group.map { ["group \($0)"] } ?? [])
  }

  /// False for candidates that only accompany an image.
  fileprivate var isOfItsOwn: Bool {
    switch source {
    case .mediaThumbnail, .itunesImage: return false
    default: break
    }
    if let width, let height, width <= Self.widestIcon, height <= Self.widestIcon { return false }
    return !address.contains("/emoji/")
  }

  private static var widestIcon: Int { 48 }
}

/// A URL without the parts that request a size.
struct ImageName {
  let text: String

  /// The names of query parameters that request a size or a format.
  private static let sizes: Set<Substring> = [
    "w", "h", "width", "height", "size", "sz", "resize", "fit", "crop", "dpr", "quality", "auto", "fm", "format", "ssl",
    "strip", "zoom", "itok",
  ]
  /// The names of query parameters that contain a signature.
  private static let signatures: Set<Substring> = ["s", "sig", "signature"]

  init(_ address: String) {
    var rest = address[...]
    if let end = rest.firstIndex(of: "#") { rest = rest[..<end] }
    if let end = rest.firstRange(of: "://") { rest = rest[end.upperBound...] }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts.count > 1 ? Self.query(parts[1]) : ""
    text = Self.path(parts[0]) + query
  }

  private static func query(_ query: Substring) -> String {
    func name(_ item: Substring) -> Substring { item.prefix { $0 != "=" } }
    func isSize(_ item: Substring) -> Bool {
      // A number in `q` is a quality; any other value is a search query.
      if item.hasPrefix("q="), item.dropFirst(2).allSatisfy(\.isNumber) { return true }
      return sizes.contains(name(item))
    }
    let items = query.split(separator: "&")
    let others = items.filter { !isSize($0) }
    let kept = others.count < items.count ? others.filter { !signatures.contains(name($0)) } : others
    return kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
  }

  /// The path without sizes: `photo-1024x768.jpg`, `photo-scaled.jpg` and `photo@2x.jpg` become `photo.jpg`. The proxy
  /// host `i0.wp.com/`, which precedes another host, is removed.
  private static func path(_ path: Substring) -> String {
    var path = path
    let host = path.prefix { $0 != "/" }
    if host.count == 9, host.hasSuffix(".wp.com"), host.hasPrefix("i") { path = path.dropFirst(host.count + 1) }
    guard let dot = path.lastIndex(of: "."), path[dot...].utf8.count <= 6, !path[dot...].contains("/") else {
      return String(path)
    }
    var name = path[..<dot]
    for ending in ["-scaled", "@2x", "@3x"] where name.hasSuffix(ending) { name = name.dropLast(ending.count) }
    if let dash = name.lastIndex(of: "-") {
      let size = name[name.index(after: dash)...].split(separator: "x", omittingEmptySubsequences: false)
      let isSize =
        size.count == 2 && size.allSatisfy { (2...4).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isDigit) }
      if isSize { name = name[..<dash] }
    }
    return String(name) + path[dot...]
  }
}
