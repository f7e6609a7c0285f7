/// A list of subscriptions as feed readers exchange it: OPML 1.0 and 2.0 (<http://opml.org/spec2.opml>).
///
///     let list = try OPML(parsing: bytes)
///     for feed in list.feeds { print(feed.folders, feed.outline.name, feed.address) }
///
/// Reading is lenient: unquoted attributes, bare `&`, unclosed outlines, wrong encodings and missing heads are read as
/// intended. Attributes that don't have a property of their own are kept in order, and written again.
public struct OPML: Hashable, Sendable {
  /// One line of the list: a folder, or a feed.
  public struct Outline: Hashable, Sendable {
    /// The title that feed readers show (`text`).
    public var text: String?
    /// The feed's own title (`title`).
    public var title: String?
    /// The feed's URL (`xmlUrl`), unchanged.
    public var address: String?
    /// The URL of the feed's site (`htmlUrl`), unchanged.
    public var page: String?
    /// All other attributes, unchanged.
    public var attributes: [Attribute]
    /// The outlines inside this one, which is usually a folder.
    public var outlines: [Outline]

    public init(
      text: String? = nil, title: String? = nil, address: String? = nil, page: String? = nil,
      attributes: [Attribute] = [], outlines: [Outline] = []
    ) {
      self.text = text
      self.title = title
      self.address = address
      self.page = page
      self.attributes = attributes
      self.outlines = outlines
    }
  }

  /// An attribute of an outline.
  public struct Attribute: Hashable, Sendable {
    /// The name, with its prefix, if it has one.
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The maximum number of prefixes that are read, which leaves room among a tag's attributes.
  package static let mostNamespaces = 200

  /// The list's name.
  public var title: String?
  /// The vocabularies that the outlines use besides OPML's: `xmlns:` prefixes and their URIs.
  public var namespaces: [Attribute]
  public var outlines: [Outline]
  /// True when the document's end is missing: only the outlines that arrived are here.
  public var isCutOff = false

  public init(title: String? = nil, namespaces: [Attribute] = [], outlines: [Outline] = []) {
    self.title = title
    self.namespaces = namespaces
    self.outlines = outlines
  }
}

extension OPML.Attribute {
  /// The prefix that this attribute declares; `nil` for all other attributes.
  package var declaredPrefix: String? { name.hasPrefix("xmlns:") ? String(name.dropFirst(6)) : nil }

  /// The prefix of the name; `nil` if it has none.
  package var prefix: String? { name.firstIndex(of: ":").map { String(name[..<$0]) } }
}

extension OPML.Outline {
  /// The name to show: the outline's text, or else its title; `nil` when neither has a visible character.
  public var name: String? {
    for text in [text, title] {
      if let text, case let line = plainLine(text), line.hasVisibleCharacter { return line }
    }
    return nil
  }

  /// The value of an attribute that has no property of its own; the name is case-insensitive.
  public subscript(attribute name: String) -> String? {
    get { attributes.first { $0.name.lowercased() == name.lowercased() }?.value }
    set {
      let index = attributes.firstIndex { $0.name.lowercased() == name.lowercased() }
      switch (index, newValue) {
      case (let index?, let value?): attributes[index].value = value
      case (let index?, nil): attributes.remove(at: index)
      case (nil, let value?): attributes.append(OPML.Attribute(name, value))
      case (nil, nil): break
      }
    }
  }

  /// ``address``, if it is an absolute http or https URL; `feed://` is read as `http://`, and `feed:` before a URL is
  /// dropped.
  public var webAddress: String? {
    guard var text = address else { return nil }
    text = text.withBytes { $0.trimmed.string }
    let lower = text.lowercased()
    if lower.hasPrefix("feed://") {
      text = "http://" + text.dropFirst(7)
    } else if lower.hasPrefix("feed:") {
      text = String(text.dropFirst(5))
    }
    return text.withBytes { absoluteAddress($0, base: nil) }
  }
}

extension OPML {
  /// A feed in a list, and the names of the folders that contain it.
  public struct Feed: Hashable, Sendable {
    /// The feed's outline, which also declares the prefixes that only outlines around it declare.
    public var outline: Outline
    /// An absolute http or https URL.
    public var address: String
    public var folders: [String]
  }

  /// The feeds with an http or https URL, in the list's order, each URL once.
  public var feeds: [Feed] {
    var (feeds, known): ([Feed], Set<String>) = ([], [])
    visit(outlines, in: []) { outline, folders, declared in
      guard let address = outline.webAddress, known.insert(address).inserted else { return }
      feeds.append(Feed(outline: outline.declaring(declared), address: address, folders: folders))
    }
    return feeds
  }

  /// The outlines of the feeds whose URL isn't http or https.
  public var unusableFeeds: [Outline] {
    var feeds: [Outline] = []
    visit(outlines, in: []) { outline, _, _ in
      if outline.address != nil, outline.webAddress == nil { feeds.append(outline) }
    }
    return feeds
  }

  /// Visits outlines recursively. The recursion is as deep as the nesting of outlines, which ``FeedLimits/depth``
  /// limits.
  ///
  /// - Parameters:
  ///   - declared: the URIs of the prefixes that outlines around these declare.
  ///   - body: receives each outline, the names of its folders, and those URIs.
  private func visit(
    _ outlines: [Outline], in folders: [String], _ declared: [String: String] = [:],
    _ body: (Outline, [String], [String: String]) -> Void
  ) {
    for outline in outlines {
      body(outline, folders, declared)
      guard !outline.outlines.isEmpty else { continue }
      let name = outline.address == nil ? outline.name : nil
      var inner = declared
      for one in outline.attributes { if let prefix = one.declaredPrefix { inner[prefix] = one.value } }
      visit(outline.outlines, in: folders + (name.map { [$0] } ?? []), inner, body)
    }
  }
}

extension OPML.Outline {
  /// The outline with the declarations of the prefixes that it uses and doesn't declare itself.
  fileprivate func declaring(_ declared: [String: String]) -> OPML.Outline {
    guard !declared.isEmpty else { return self }
    var outline = self
    var known = Set(attributes.compactMap(\.declaredPrefix))
    for prefix in attributes.compactMap(\.prefix) where known.insert(prefix).inserted {
      if let address = declared[prefix] { outline.attributes.append(OPML.Attribute("xmlns:\(prefix)", address)) }
    }
    return outline
  }
}
