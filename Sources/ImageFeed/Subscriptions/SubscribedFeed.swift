public import FeedFormats
public import Foundation
import PlainText

/// A subscribed feed.
public struct SubscribedFeed: Hashable, Sendable {
  /// The absolute http or https URL.
  public var address: URL
  /// The subscriber's name for the feed.
  public var title: String?
  /// The folders that contain the feed, outermost first.
  public var folders: [String]
  /// The polling interval, if it isn't the default. In a list, an interval of zero counts as missing.
  public var interval: Duration?
  /// The name of the credentials that its server requires; the secrets themselves are kept elsewhere.
  public var credentials: String?

  /// Header fields to send to its server, each as `Name: value`.
  public var headers: [String]
  /// The name and password for its server, as `name:password`.
  public var user: String?
  /// True if the name and password are in the user's netrc file.
  public var usesNetrc: Bool

  public init(
    address: URL, title: String? = nil, folders: [String] = [], interval: Duration? = nil, credentials: String? = nil,
    headers: [String] = [], user: String? = nil, usesNetrc: Bool = false
  ) {
    self.address = address
    self.headers = headers
    self.user = user
    self.usesNetrc = usesNetrc
    self.title = title
    self.folders = folders
    self.interval = interval
    self.credentials = credentials
  }
}

/// In a list, properties without an OPML attribute have their own namespace:
/// `xmlns:feed="urn:feedstream:subscription"`, `feed:interval="15m"`, `feed:credentials="work"`, `feed:header="Name:
/// value"` (several fields on separate lines), `feed:user="name:password"`, `feed:netrc="yes"`.
extension OPML {
  static let vocabulary = "urn:feedstream:subscription"
  /// The prefix that means ``vocabulary`` in a list that declares neither.
  private static let usualPrefix = "feed"

  /// The feeds of a list, each URL once. In these URLs, characters that URLs can't have are percent-encoded.
  public var subscriptions: [SubscribedFeed] {
    var known: Set<URL> = []
    return feeds.compactMap { feed in
      guard let address = URL(string: feed.address), known.insert(address).inserted else { return nil }
      return SubscribedFeed(
        address: address, title: feed.outline.name.flatMap { $0 == address.host ? nil : $0 }, folders: feed.folders,
        interval: own("interval", of: feed.outline).flatMap { try? Duration(parsing: $0) }
          .flatMap { $0 > .zero ? $0 : nil },
        credentials: own("credentials", of: feed.outline),
        headers: (own("header", of: feed.outline) ?? "").split(whereSeparator: \.isNewline).map(String.init),
        user: own("user", of: feed.outline), usesNetrc: own("netrc", of: feed.outline)?.lowercased() == "yes")
    }
  }

  /// Adds a subscription, or changes the existing one with the same URL; nonempty `folders` move it.
  ///
  /// - Returns: true if the subscription is new.
  @discardableResult public mutating func add(_ subscription: SubscribedFeed) -> Bool {
    let attributes = attributes(of: subscription)
    let isKnown = Self.change(&outlines, subscription.address.absoluteString) { outline in
      if let title = subscription.title { outline.text = title }
      for one in attributes { outline[attribute: one.name] = one.value }
    }
    if isKnown, !subscription.folders.isEmpty { move(subscription.address, to: subscription.folders) }
    if !isKnown { insert(subscription, attributes, FolderPlaces(outlines)) }
    return !isKnown
  }

  /// Adds the subscriptions whose URLs are not in the list yet, each URL once.
  ///
  /// - Returns: the number of added subscriptions.
  @discardableResult public mutating func add(_ subscriptions: [SubscribedFeed]) -> Int {
    var known = Set(feeds.map { Self.spelled($0.address) })
    let new = subscriptions.filter { known.insert($0.address.absoluteString).inserted }
    let folders = FolderPlaces(outlines)
    for one in new { insert(one, attributes(of: one), folders) }
    return new.count
  }

  /// The attributes of our own vocabulary.
  private mutating func attributes(of subscription: SubscribedFeed) -> [(name: String, value: String)] {
    var own = [("interval", subscription.interval?.text), ("credentials", subscription.credentials)]
    own.append(("header", subscription.headers.isEmpty ? nil : subscription.headers.joined(separator: "\n")))
    own.append(("user", subscription.user))
    own.append(("netrc", subscription.usesNetrc ? "yes" : nil))
    let given = own.compactMap { name, value in value.map { (name, $0) } }
    if !given.isEmpty { declareVocabulary() }
    return given.map { (name: name($0), value: $1) }
  }

  private mutating func insert(
    _ subscription: SubscribedFeed, _ attributes: [(name: String, value: String)], _ places: FolderPlaces
  ) {
    var outline = Outline(
      text: subscription.title ?? subscription.address.host ?? subscription.address.absoluteString,
      address: subscription.address.absoluteString, attributes: [Attribute("type", "rss")])
    for one in attributes { outline[attribute: one.name] = one.value }
    Self.insert(outline, in: Self.names(subscription.folders)[...], of: &outlines, places)
  }

  /// Adds the feeds of another list that this one lacks, in the same folders.
  ///
  /// - Returns: the number of added feeds.
  public mutating func add(_ list: OPML) -> Int {
    var known = Set(feeds.map { Self.spelled($0.address) })
    var added = 0
    let (declared, places) = (list.declared, FolderPlaces(outlines))
    for feed in list.feeds where known.insert(Self.spelled(feed.address)).inserted {
      var outline = adopted(feed.outline, declared)
      (outline.address, outline.outlines) = (feed.address, [])
      Self.insert(outline, in: feed.folders[...], of: &outlines, places)
      added += 1
    }
    return added
  }

  /// Moves the feed with the given URL into a folder, which is specified by its path from the outermost folder, and
  /// removes folders that become empty. Feeds inside the feed's outline stay in place.
  ///
  /// - Returns: false if there is no such feed, or it is already in that folder.
  @discardableResult public mutating func move(_ address: URL, to folders: [String]) -> Bool {
    let folders = Self.names(folders)
    guard let feed = feeds.first(where: { Self.spelled($0.address) == address.absoluteString }),
      feed.folders != folders
    else { return false }
    var outline = adopted(feed.outline, declared)
    (outline.address, outline.outlines) = (feed.address, [])
    _ = Self.remove(address.absoluteString, from: &outlines)
    Self.insert(outline, in: folders[...], of: &outlines, FolderPlaces(outlines))
    return true
  }

  /// The list without its feeds' header fields, user names and passwords. URLs are unchanged, including any passwords
  /// in them.
  public var withoutSecrets: OPML {
    var copy = self
    var prefixes = Set(namespaces.filter { $0.value == Self.vocabulary }.map(\.name))
    if !namespaces.contains(where: { $0.name == Self.usualPrefix }) { prefixes.insert(Self.usualPrefix) }
    Self.removeSecrets(from: &copy.outlines, prefixes)
    return copy
  }

  /// - Parameter prefixes: the prefixes of our own vocabulary around these outlines. Case matters in declarations, but
  ///   not in the names of attributes.
  private static func removeSecrets(from outlines: inout [Outline], _ prefixes: Set<String>) {
    for index in outlines.indices {
      let declarations = outlines[index].attributes.filter { $0.declaredPrefix != nil }
      let others = declarations.filter { $0.value != vocabulary }.compactMap(\.declaredPrefix)
      let own = declarations.filter { $0.value == vocabulary }.compactMap(\.declaredPrefix)
      let prefixes = prefixes.subtracting(others).union(own)
      outlines[index].attributes.removeAll { attribute in
        let name = attribute.name.lowercased()
        return prefixes.contains { name == "\($0):header".lowercased() || name == "\($0):user".lowercased() }
      }
      removeSecrets(from: &outlines[index].outlines, prefixes)
    }
  }

  /// Removes the feed with the given URL, and folders that become empty. Feeds inside the feed's outline stay in place.
  ///
  /// - Returns: false if there was none.
  @discardableResult public mutating func remove(_ address: URL) -> Bool {
    Self.remove(address.absoluteString, from: &outlines)
  }
}

extension OPML {
  private func name(_ attribute: String) -> String {
    "\(namespaces.first { $0.value == Self.vocabulary }?.name ?? Self.usualPrefix):\(attribute)"
  }

  /// The value of an attribute of our own vocabulary; `nil` if its prefix means another vocabulary.
  private func own(_ attribute: String, of outline: Outline) -> String? {
    let name = name(attribute)
    guard let value = outline[attribute: name] else { return nil }
    let prefix = name.dropLast(attribute.count + 1)
    let meaning =
      outline.attributes.first { $0.declaredPrefix.map { $0 == prefix } ?? false }?.value
      ?? namespaces.first { $0.name == prefix }?.value
    return meaning ?? Self.vocabulary == Self.vocabulary ? value : nil
  }

  private mutating func declareVocabulary() { _ = prefix(for: Self.vocabulary, preferring: Self.usualPrefix) }

  /// Declares our vocabulary if the list uses its usual prefix without a declaration, as in a list to which a user has
  /// added our attributes. Otherwise, the attributes would be read, but not written again.
  mutating func declareUsedVocabulary() {
    let isDeclared = namespaces.contains { $0.name == Self.usualPrefix || $0.value == Self.vocabulary }
    if !isDeclared, Self.uses(Self.usualPrefix, in: outlines) { declareVocabulary() }
  }

  private static func uses(_ prefix: String, in outlines: [Outline]) -> Bool {
    outlines.contains { $0.attributes.contains { $0.prefix == prefix } || uses(prefix, in: $0.outlines) }
  }

  /// The list's prefix for a vocabulary, which is declared if it has none yet; `nil` if there is no room for another.
  private mutating func prefix(for vocabulary: String, preferring prefix: String) -> String? {
    if let known = namespaces.first(where: { $0.value == vocabulary }) { return known.name }
    let isOwn = vocabulary == Self.vocabulary
    guard isOwn || namespaces.count < Self.mostNamespaces else { return nil }
    var (name, number) = (prefix, 2)
    while namespaces.contains(where: { $0.name == name }) { (name, number) = ("\(prefix)\(number)", number + 1) }
    // Our own comes first, so that it is read again however many others there are.
    namespaces.insert(Attribute(name, vocabulary), at: isOwn ? 0 : namespaces.count)
    return name
  }

  /// The URI of each prefix that the list declares.
  private var declared: [String: String] { Dictionary(namespaces.map { ($0.name, $0.value) }) { first, _ in first } }

  /// An outline from another list or another folder, whose attributes get this list's prefixes for the same
  /// vocabularies, so that they keep their meaning.
  ///
  /// - Parameter declared: the declarations of the list that the outline comes from.
  private mutating func adopted(_ outline: Outline, _ declared: [String: String]) -> Outline {
    var meanings = declared
    if !meanings.values.contains(Self.vocabulary), meanings[Self.usualPrefix] == nil {
      meanings[Self.usualPrefix] = Self.vocabulary
    }
    for one in outline.attributes { if let prefix = one.declaredPrefix { meanings[prefix] = one.value } }
    var outline = outline
    outline.attributes = outline.attributes.compactMap { attribute in
      if attribute.declaredPrefix != nil { return nil }
      guard let prefix = attribute.prefix, let vocabulary = meanings[prefix] else { return attribute }
      guard let own = self.prefix(for: vocabulary, preferring: prefix) else { return nil }
      return Attribute("\(own)\(attribute.name.dropFirst(prefix.count))", attribute.value)
    }
    return outline
  }

  /// The names of folders as lists show them, on one line.
  private static func names(_ folders: [String]) -> [String] { folders.map(plainLine).filter(\.hasVisibleCharacter) }
}
