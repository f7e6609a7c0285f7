/// The vocabularies of feeds.
enum Namespace: UInt8 {
  /// RSS's own elements, and those without a namespace.
  case core
  case atom, atom03, rdf, rss090, rss10, content, dublinCore, media, itunes, geoRSS, geo, gml, xhtml, syndication
  case other

  /// True for the elements of RSS and of Atom themselves.
  var isOfFeed: Bool {
    switch self {
    case .core, .atom, .atom03, .rss090, .rss10, .rdf: true
    default: false
    }
  }

  /// The namespace of a declared URI; real URIs differ in case, scheme and final slashes.
  init(address: Bytes) {
    // Every part of a URI is compared with each of these; real URIs are short.
    let address = address.part(0, min(address.count, 256))
    for (part, namespace) in Self.addresses where Self.contains(address, part) {
      self = namespace
      return
    }
    self = .other
  }

  /// The namespace that a prefix usually means, used in documents without a declaration.
  init?(usualPrefix hash: UInt64) {
    guard let namespace = Self.prefixes[hash] else { return nil }
    self = namespace
  }

  private static let addresses: [(StaticString, Namespace)] = [
    ("search.yahoo.com/mrss", .media), ("purl.org/rss/1.0/modules/content", .content),
    ("purl.org/dc/", .dublinCore), ("itunes.com/dtds/podcast", .itunes),
    ("georss.org", .geoRSS), ("w3.org/2003/01/geo", .geo), ("opengis.net/gml", .gml), ("w3.org/1999/xhtml", .xhtml),
    ("purl.org/rss/1.0/modules/syndication", .syndication), ("w3.org/2005/atom", .atom), ("purl.org/atom/", .atom03),
    ("w3.org/1999/02/22-rdf-syntax", .rdf), ("my.netscape.com/rdf/simple/0.9", .rss090),
    ("channel.netscape.com/rdf/simple/0.9", .rss090), ("purl.org/rss/1.0/modules", .other),
    ("purl.org/rss/1.0", .rss10), ("purl.org/net/rss", .core), ("backend.userland.com", .core),
    ("blogs.law.harvard.edu/tech/rss", .core), ("cyber.law.harvard.edu/rss", .core), ("userland.com/rss", .core),
  ]

  private static let prefixes: [UInt64: Namespace] = {
    let names: [(StaticString, Namespace)] = [
      ("media", .media), ("content", .content), ("dc", .dublinCore), ("dcterms", .dublinCore), ("itunes", .itunes),
      ("googleplay", .itunes), ("georss", .geoRSS), ("geo", .geo), ("gml", .gml), ("xhtml", .xhtml), ("html", .xhtml),
      ("sy", .syndication), ("syn", .syndication), ("atom", .atom), ("atom10", .atom), ("a10", .atom),
      ("atom03", .atom03), ("rdf", .rdf), ("rss", .core),
    ]
    return Dictionary(uniqueKeysWithValues: names.map { ($0.0.nameHash, $0.1) })
  }()

  private static func contains(_ address: Bytes, _ part: StaticString) -> Bool {
    guard address.count >= part.utf8CodeUnitCount else { return false }
    return (0...address.count - part.utf8CodeUnitCount).contains { address.startsIgnoringCase(with: part, at: $0) }
  }
}

/// The prefixes declared at the scanner's position.
struct Namespaces {
  private struct Binding {
    let prefix: UInt64
    let namespace: Namespace
    /// The number of elements that were open at the declaration.
    let depth: Int
  }

  private static let defaultPrefix: UInt64 = 0
  /// The maximum number of open declarations. It is limited because all of them are searched for each element.
  private static let most = 256
  private var bindings: [Binding] = []

  mutating func declare(_ tag: borrowing XMLTag, depth: Int) {
    for attribute in tag.attributes {
      let name = tag.name(of: attribute)
      guard name.starts(with: "xmlns"), bindings.count < Self.most else { continue }
      let prefix: UInt64
      if name.count == 5 {
        prefix = Self.defaultPrefix
      } else if name[5] == UInt8(ascii: ":") {
        prefix = name.part(6, name.count).nameHash
      } else {
        continue
      }
      let address = tag.rawValue(of: attribute).trimmed
      var namespace = address.count == 0 ? .core : Namespace(address: address)
      // The URI is unknown, but the prefix is clear: `xmlns:media="http://search.yahoo.com/"`.
      if namespace == .other, let usual = Namespace(usualPrefix: prefix), usual != .rdf { namespace = usual }
      bindings.append(Binding(prefix: prefix, namespace: namespace, depth: depth))
    }
  }

  /// Removes the declarations of elements deeper than `depth`.
  mutating func leave(_ depth: Int) {
    while let last = bindings.last, last.depth > depth { bindings.removeLast() }
  }

  /// The namespace of a name without a prefix. An unknown namespace counts as RSS's own.
  var ofUnprefixed: Namespace {
    for binding in bindings.reversed() where binding.prefix == Self.defaultPrefix {
      return binding.namespace == .other ? .core : binding.namespace
    }
    return .core
  }

  /// The namespace of a prefix, and true if the prefix is declared.
  func of(_ prefix: Bytes) -> (Namespace, isDeclared: Bool) {
    let hash = prefix.nameHash
    for binding in bindings.reversed() where binding.prefix == hash { return (binding.namespace, true) }
    return (Namespace(usualPrefix: hash) ?? .other, false)
  }

  var isEmpty: Bool { bindings.isEmpty }
}
