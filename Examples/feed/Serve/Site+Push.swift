import FeedHTTP
import FeedHTTPServer
import FeedPolling
import FeedStream
import Foundation
import ImageFeed

/// Requests from hubs, which have no token. Instead, their path is secret, and each announcement is signed.
extension Site {
  /// The path below which hubs reach this server.
  static let pushPath = "/websub/"

  /// The path of the hub for this server's own feeds.
  static let hubPath = "/hub"

  /// True for the hub's path and callback paths only: any other request needs a token. The topic of a subscription
  /// contains the token.
  static func isPush(_ path: String) -> Bool {
    if path == hubPath { return true }
    return path.hasPrefix(pushPath)
      && path.utf8.dropFirst(pushPath.utf8.count).allSatisfy { byte in
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
      }
  }

  func verifyPush(_ request: WholeRequest) -> Reply {
    guard let hubs else { return Self.failed(.notFound) }
    return Self.now(Self.response(hubs.verify(request.parameters["name"] ?? "") { request.query($0) }))
  }

  func takePush(_ request: WholeRequest) -> Reply {
    guard let hubs else { return Self.failed(.notFound) }
    let (name, signature) = (request.parameters["name"] ?? "", request.headers["X-Hub-Signature"])
    return Self.now(Self.response(hubs.announce(name, request.body, signature: signature)))
  }

  func takeSubscription(_ request: WholeRequest) -> Reply {
    guard let hub else { return Self.failed(.notFound) }
    do {
      let form = try request.decoded(as: HubForm.self, from: [.form])
      return Self.now(Self.response(hub.take { form[$0] }))
    } catch {
      return Self.failed((error as? ProblemDetails)?.status ?? .badRequest)
    }
  }

  /// The hub for this server's own feeds.
  func hub(at publicURL: URL, _ client: any HTTPClient, _ store: SQLiteFeedStore, _ cache: FeedCache) -> FeedHub {
    let base = FeedHub.base(of: publicURL)
    let hub = "\(base)\(Self.hubPath)"
    let part = { [gallery, access] in
      var part = GalleryFeeds.Part(gallery: gallery, entries: gallery.entries, token: access.token)
      part.hub = hub
      return part
    }
    let places = [part().place("/feed.json"), part().place("/feed.atom")].map { base + $0 }
    return FeedHub(
      at: URL(string: hub) ?? publicURL, client: client, keptIn: store, cache: cache, on: scheduler,
      isTopic: { places.contains($0.absoluteString) },
      content: { topic in
        let part = part()
        let isJSON = topic.absoluteString == places[0]
        let marks = part.entries.prefix(GalleryFeeds.most).map { "\($0.id) \($0.key)" }
        return Just(
          FeedHub.Content(
            type: isJSON ? "application/feed+json" : "application/atom+xml",
            body: Chunk(isJSON ? part.json(at: base) : part.atom(at: base)),
            mark: BodyDigest(marks.joined(separator: "\n").utf8).text)
        )
        .eraseToAnyPublisher()
      })
  }

  private static func response(_ reply: HubReply) -> ServerResponse {
    .text(reply.text, HTTPStatus(reply.status))
  }
}

extension FeedHub {
  /// The public URL of a server, without a slash at the end, as programs that normalize URLs write it: they subscribe
  /// to that one.
  static func base(of publicURL: URL) -> String {
    let text = publicURL.normalized
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }

  var base: String { String(url.absoluteString.dropLast(Site.hubPath.utf8.count)) }

  /// True for the value of `Host` that clients of the public URL send. A proxy may remove the port.
  func isNamed(by host: String) -> Bool {
    guard url.host().map({ AccessRules.name($0) }) == AccessRules.name(inHost: host) else { return false }
    let port = AccessRules.port(inHost: host)
    return port.isEmpty || port == "\(url.portInUse)"
  }

  /// The value of a `Link` field (W3C WebSub, section 4).
  func links(_ topic: String) -> String { "<\(url.absoluteString)>; rel=\"hub\", <\(topic)>; rel=\"self\"" }
}

/// A request to this server's hub (W3C WebSub, section 5.1).
private struct HubForm: Decodable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case mode = "hub.mode"
    case topic = "hub.topic"
    case callback = "hub.callback"
    case secret = "hub.secret"
    case lease = "hub.lease_seconds"
  }

  private let fields: [String: String]

  init(from decoder: any Decoder) throws {
    let form = try decoder.container(keyedBy: CodingKeys.self)
    var fields: [String: String] = [:]
    for key in CodingKeys.allCases { fields[key.rawValue] = try form.decodeIfPresent(String.self, forKey: key) }
    self.fields = fields
  }

  subscript(name: String) -> String? { fields[name] }
}
