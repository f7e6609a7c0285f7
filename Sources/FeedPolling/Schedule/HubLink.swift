public import FeedFormats
public import FeedHTTP
public import Foundation

/// The hub that announces a feed's changes, and the URL that identifies the feed to the hub (W3C WebSub, section 4).
public struct HubLink: Hashable, Sendable {
  public var hub: URL
  public var topic: URL
  /// True if the response that named the hub came from a private network; otherwise, `nil`.
  var isFromPrivateNetwork: Bool?

  /// Users and passwords in the URLs are dropped, because a hub must not learn those of a feed.
  public init(hub: URL, topic: URL) {
    self.hub = hub.withoutUser
    self.topic = topic.withoutUser
  }

  /// True for the same hub and topic. The network of the response that named them doesn't matter.
  func isSame(as other: HubLink) -> Bool { hub == other.hub && topic == other.topic }

  /// Reads the `Link` fields of a response; `nil` when they don't name a hub.
  ///
  /// - Parameter url: the URL of the response, which is the topic if no link has the relation `self`.
  public init?(_ headers: HTTPHeaders, at url: URL) {
    let links = headers.values(of: "Link").flatMap { Self.links(in: $0) }
    func first(_ relation: String) -> URL? {
      links.lazy.filter { $0.relations.contains(relation) }.compactMap { Self.web($0.target, from: url) }.first
    }
    guard let hub = first("hub") else { return nil }
    self.init(hub: hub, topic: first("self") ?? url)
  }

  /// The hub that a document names; `nil` when it doesn't name one.
  public init?(_ hints: PollingHints, at url: URL) {
    guard let hub = hints.hub.flatMap({ Self.web($0, from: url) }) else { return nil }
    self.init(hub: hub, topic: hints.topic.flatMap { Self.web($0, from: url) } ?? url)
  }

  private static func web(_ text: String, from url: URL) -> URL? {
    guard text.utf8.count <= PollingHints.longestAddress, let target = URL(string: text, relativeTo: url)?.absoluteURL,
      ["http", "https"].contains(target.scheme?.lowercased() ?? ""), target.host() != nil
    else { return nil }
    return target
  }

  /// Parses `<https://hub.example/>; rel="hub"` (RFC 8288, section 3); a comma may be part of a target.
  private static func links(in line: String) -> [(target: String, relations: [String])] {
    var links: [(String, [String])] = []
    var rest = line[...]
    while links.count < 32, let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
      let target = String(rest[rest.index(after: start)..<end])
      rest = rest[rest.index(after: end)...]
      let parameters = rest.prefix { $0 != "<" }.split(separator: ";")
      let relation = parameters.lazy.compactMap { Self.relation($0) }.first
      links.append((target, relation ?? []))
    }
    return links
  }

  private static func relation(_ parameter: Substring) -> [String]? {
    guard let equals = parameter.firstIndex(of: "="),
      parameter[..<equals].lowercased().filter({ $0 != " " && $0 != "\t" }) == "rel"
    else { return nil }
    return parameter[parameter.index(after: equals)...].lowercased().split { " \t\",".contains($0) }.map(String.init)
  }
}
