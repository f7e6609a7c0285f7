/// The local names of elements that have a meaning in a feed; their case doesn't matter.
enum ElementName: UInt8, CaseIterable {
  case unknown
  case rss, rdf, feed, channel, item, entry, html
  case title, link, description, summary, subtitle, content, encoded, body, guid, id, about
  case pubdate, published, updated, date, issued, modified, created, lastbuilddate
  case author, source, image, url, textinput, category, comments, contributor, creator, rights
  case enclosure, group, thumbnail, player
  case ttl, skiphours, skipdays, hour, day, updateperiod, updatefrequency
  case point, pos, lat, long, lon, `where`, featurename, location, circle, coordinates
  case line, polygon, box, poslist, lowercorner
  case linestring, linearring, exterior, outerboundaryis, envelope
  case abstract, logo, a
  case opml

  /// True for the names that have a meaning only in CDF.
  var isOfCDF: Bool { self == .abstract || self == .logo || self == .a }

  private static let table: [UInt64: ElementName] = Dictionary(
    uniqueKeysWithValues: allCases.dropFirst().map { name in
      ("\(name)".withBytes { $0.nameHash }, name)
    })

  /// A hash table of the names, which is faster than a dictionary: 256 slots, indexed by the low bits of the hash.
  struct Table {
    private var hashes = [UInt64](repeating: 0, count: 256)
    private var names = [ElementName](repeating: .unknown, count: 256)

    init() {
      for (hash, name) in ElementName.table {
        var place = Int(truncatingIfNeeded: hash & 255)
        while hashes[place] != 0 { place = (place + 1) & 255 }
        (hashes[place], names[place]) = (hash, name)
      }
    }

    func name(of hash: UInt64) -> ElementName {
      var place = Int(truncatingIfNeeded: hash & 255)
      while hashes[place] != 0 {
        if hashes[place] == hash { return names[place] }
        place = (place + 1) & 255
      }
      return .unknown
    }
  }
}

/// HTML elements, which may occur unescaped in text.
enum HTMLNames {
  /// True for elements without an end tag.
  static func isVoid(_ hash: UInt64) -> Bool { voids.contains(hash) }

  /// True for elements that end at the next one of the same name.
  static func endsItself(_ hash: UInt64) -> Bool { selfEnding.contains(hash) }

  static func isKnown(_ hash: UInt64) -> Bool { voids.contains(hash) || known.contains(hash) }

  private static let voids = hashes(
    ["br", "img", "hr", "input", "meta", "wbr", "embed", "param", "track", "area", "col", "base", "basefont", "spacer"])
  private static let selfEnding = hashes(["p", "li", "td", "tr", "th", "dt", "dd", "option"])
  private static let known = hashes([
    "a", "abbr", "acronym", "address", "applet", "article", "aside", "audio", "b", "bdo", "big", "blink", "blockquote",
    "body", "button", "caption", "center", "cite", "code", "del", "dfn", "dir", "div", "dl", "dt", "dd", "em",
    "fieldset", "figcaption", "figure", "font", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "html",
    "i", "iframe", "ins", "kbd", "label", "li", "main", "map", "mark", "nav", "noscript", "object", "ol", "option", "p",
    "picture", "pre", "q", "s", "samp", "script", "section", "select", "small", "span", "strike", "strong", "style",
    "sub", "sup", "svg", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul",
    "var", "video",
  ])

  private static func hashes(_ names: [String]) -> Set<UInt64> { Set(names.map { $0.withBytes { $0.nameHash } }) }
}
