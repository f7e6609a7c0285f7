import FeedFleet
import FeedHTTPServer
import FeedPolling
import FeedStream
import Foundation
import ImageFeed

/// Responds to requests for the page and its resources.
///
/// The site runs on the gallery's loop, but the servers that need its responses may run on other loops: see
/// ``SiteRoutes``.
struct Site {
  let gallery: Gallery
  let images: ServedImages
  let access: AccessRules
  let scheduler: any LoopScheduler
  let frames: Frames
  /// The history of the feeds; `nil` if only their latest items are known.
  let history: GalleryHistory?
  /// The fleet whose metrics are shown next to those of this process.
  private let fleet: RedisFleet?
  let warn: (String) -> Void
  /// Receives announcements from hubs; `nil` if there is no public URL.
  var hubs: HubSubscriber?
  /// Signs the requests to other servers, which fetch the public key here.
  var signer: RequestSigner?
  /// Announces changes to this server's own feeds; `nil` if there is no public URL.
  var hub: FeedHub?
  /// Counts the requests on all loops.
  let served: ServedRequests
  /// Counts the gallery's requests to other servers.
  var sent: SentRequests?
  private let loop: LoopFigures
  /// The number of open connections, and the number of bytes waiting to be written to them.
  var load: () -> AnyPublisher<(connections: Int, waiting: Int), Never> = { Just((0, 0)).eraseToAnyPublisher() }

  /// - Parameter warn: receives errors that occur after a response.
  init(
    _ gallery: Gallery, _ images: ServedImages, _ access: AccessRules, history: GalleryHistory? = nil,
    fleet: RedisFleet? = nil, served: ServedRequests, on scheduler: any LoopScheduler,
    loop: LoopFigures, warn: @escaping (String) -> Void = { _ in }
  ) {
    self.served = served
    self.loop = loop
    self.warn = warn
    self.history = history
    self.gallery = gallery
    self.images = images
    self.access = access
    self.scheduler = scheduler
    self.fleet = fleet
    frames = Frames(images, on: scheduler)
  }

  /// The line to print.
  static func place(_ address: SocketAddress?, port: Int, _ access: AccessRules) -> String {
    var host = address.map { "\($0)" } ?? ""
    if host.hasPrefix("/") || host.hasPrefix("@") { return "unix:\(host)" }
    if host.hasPrefix("0.0.0.0:") { host = "127.0.0.1:\(port)" }
    if host.hasPrefix("[::]:") { host = "[::1]:\(port)" }
    return "http://\(host)/" + (access.token.map { "?token=\($0)" } ?? "")
  }

  /// A fleet's metrics, or only the fact that the fleet's store is unreachable.
  private static func figures(of fleet: RedisFleet?, _ gallery: Gallery) -> AnyPublisher<String, Never> {
    guard let fleet else { return Just("").eraseToAnyPublisher() }
    func up(_ isUp: Bool) -> String {
      "# HELP feed_fleet_up 1 if the store responds.\n# TYPE feed_fleet_up gauge\nfeed_fleet_up \(isUp ? 1 : 0)\n"
    }
    return fleet.status().map { status in
      var metrics = FleetMetrics(status)
      metrics.gateway(at: gallery.place.value, status)
      return up(true) + metrics.text
    }
    .replaceError(with: up(false)).eraseToAnyPublisher()
  }

  func page(_ request: WholeRequest) -> Reply {
    let isUnknown = history != nil && GalleryQuery(request, of: gallery).feed.map { $0.address == nil } ?? false
    return Self.page(request, gallery, history, images)
      .map { [access] text in
        var response = Self.answer(request, "text/html; charset=utf-8", text, access)
        if isUnknown, response.status == .ok { response.status = .notFound }
        return response
      }
      .eraseToAnyPublisher()
  }

  func health(_ request: WholeRequest) -> Reply {
    Self.now(Self.answer(request, "text/html; charset=utf-8", HealthPage.text(gallery), access))
  }

  /// The page as a feed for feed readers.
  func feed(
    _ request: WholeRequest, _ path: String, _ type: String,
    _ text: @escaping (GalleryFeeds.Part, String) -> String
  ) -> Reply {
    let query = history == nil ? GalleryQuery() : GalleryQuery(request, of: gallery)
    return Self.entries(query, gallery, history)
      .map { [gallery, access, hub, base = base(request)] entries in
        var part = GalleryFeeds.Part(gallery: gallery, entries: entries, query: query, token: access.token)
        guard let hub, query.isEmpty, base == hub.base else {
          return Self.answer(request, type, text(part, base), access)
        }
        part.hub = hub.url.absoluteString
        var response = Self.answer(request, type, text(part, base), access)
        response.headers.add("Link", hub.links(base + part.place(path)))
        return response
      }
      .eraseToAnyPublisher()
  }

  func metrics(_ request: WholeRequest) -> Reply {
    Self.figures(of: fleet, gallery).zip(load())
      .map { [gallery, images, access, served, sent, loop] figures, load in
        let own = GalleryMetrics.text(gallery, images, connections: load.connections, waiting: load.waiting)
        let text = own + served.metrics + (sent?.metrics ?? "") + loop.metrics + figures
        return Self.answer(request, "text/plain; version=0.0.4; charset=utf-8", text, access)
      }
      .setFailureType(to: HTTPStatus.self).eraseToAnyPublisher()
  }

  func image(_ request: WholeRequest) -> Reply {
    let width = request.query("w").map { Int($0) ?? 0 }
    if let width, !(1...4096).contains(width) { return Self.failed(.badRequest) }
    guard let key = request.parameters["key"], let named = gallery.image(key) else { return Self.failed(.notFound) }
    return images.image(at: named.url, of: named.namers, width: width)
      .map { [scheduler] in Self.answer($0, on: scheduler) }
      .catch { Just(Self.answer($0)) }
      .setFailureType(to: HTTPStatus.self)
      .eraseToAnyPublisher()
  }

  static func now(_ response: ServerResponse) -> Reply {
    Just(response).setFailureType(to: HTTPStatus.self).eraseToAnyPublisher()
  }

  static func failed(_ status: HTTPStatus) -> Reply { Fail(error: status).eraseToAnyPublisher() }

  /// The entries of a feed for feed readers.
  static func entries(
    _ query: GalleryQuery, _ gallery: Gallery, _ history: GalleryHistory?
  ) -> AnyPublisher<[Gallery.Entry], HTTPStatus> {
    guard let history, !query.isEmpty else {
      return Just(gallery.entries).setFailureType(to: HTTPStatus.self).eraseToAnyPublisher()
    }
    return history.page(query, size: GalleryFeeds.most).map(\.0).mapError { _ in .internalServerError }
      .eraseToAnyPublisher()
  }

  /// The latest items, or a part of the history.
  private static func page(
    _ request: WholeRequest, _ gallery: Gallery, _ history: GalleryHistory?, _ images: ServedImages
  ) -> AnyPublisher<String, HTTPStatus> {
    let query = GalleryQuery(request, of: gallery)
    let (start, last) = (Int(request.query("from") ?? "") ?? 0, request.query("after"))
    let latest = { GalleryPage.Part(latestOf: gallery, from: start, after: last, hasPast: history != nil) }
    let part: AnyPublisher<GalleryPage.Part, FeedStoreError> =
      if let history {
        history.visit()
          .setFailureType(to: FeedStoreError.self)
          .flatMap { _ -> AnyPublisher<GalleryPage.Part, FeedStoreError> in
            guard !query.isEmpty else {
              return Just(latest()).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
            }
            return history.page(query).map { GalleryPage.Part($0.0, of: query, next: $0.1, in: gallery) }
              .eraseToAnyPublisher()
          }
          .eraseToAnyPublisher()
      } else {
        Just(latest()).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
      }
    return
      part
      .flatMap(maxPublishers: .max(1)) { part in
        images.tell(gallery, of: gallery.unknown(part.entries)).setFailureType(to: FeedStoreError.self)
          .map {
            var part = part
            part.entries = gallery.placed(part.entries)
            let address = withoutToken(request)
            part.address = isHere(address) ? address : nil
            return GalleryPage.text(gallery, part)
          }
      }
      .mapError { _ in .internalServerError }
      .eraseToAnyPublisher()
  }

  /// Waits until the gallery has announced the last event that a client has received from another process. Once the
  /// gallery has started, waits at most five seconds; after that, the client is told to start over.
  func reaching(_ last: String) -> AnyPublisher<Void, Never> {
    guard !last.isEmpty, gallery.place.value != "" else { return Just(()).eraseToAnyPublisher() }
    let isThere = gallery.place.filter { place in place.map { !Self.isAhead(last, of: $0) } ?? false }.map { _ in }
    let isLate = gallery.place.compactMap { $0 }.first().delay(for: .seconds(5), scheduler: scheduler).map { _ in }
    return isThere.merge(with: isLate).first().eraseToAnyPublisher()
  }

  /// True if an id (`milliseconds-number`) belongs to a later entry of the log.
  private static func isAhead(_ id: String, of place: String) -> Bool {
    func numbers(_ text: String) -> (UInt64, UInt64)? {
      let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
      guard parts.count == 2, let time = parts[0], let number = parts[1] else { return nil }
      return (time, number)
    }
    guard let id = numbers(id), let place = numbers(place) else { return false }
    return id > place
  }
}
