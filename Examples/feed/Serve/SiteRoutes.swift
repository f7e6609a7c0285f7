import FeedHTTP
import FeedHTTPServer
import FeedStream

extension Site {
  /// A response that the site delivers immediately or later.
  typealias Reply = AnyPublisher<ServerResponse, HTTPStatus>
  /// A function with which the site responds to a request.
  typealias Answer = @Sendable (Site, WholeRequest) -> Reply
}

/// The URLs of the page and its resources, for a server on the site's loop or on another one.
struct SiteRoutes {
  let access: AccessRules
  /// True if hubs may announce changes.
  let hasHubs: Bool
  /// Requests a response from the site.
  let ask: (WholeRequest, @escaping Site.Answer) -> Site.Reply
  /// Responds with the gallery's events.
  let events: (WholeRequest) -> Site.Reply

  /// The routes to a site on the server's loop.
  init(_ site: Site) {
    access = site.access
    hasHubs = site.hubs != nil
    ask = { $1(site, $0) }
    events = { request in
      site.reaching(request.headers["Last-Event-ID"] ?? "")
        .map { .events(site.gallery.events, greeting: .init(site.gallery.status, name: "hello")) }
        .setFailureType(to: HTTPStatus.self).eraseToAnyPublisher()
    }
  }

  init(
    access: AccessRules, hasHubs: Bool, ask: @escaping (WholeRequest, @escaping Site.Answer) -> Site.Reply,
    events: @escaping (WholeRequest) -> Site.Reply
  ) {
    (self.access, self.hasHubs, self.ask, self.events) = (access, hasHubs, ask, events)
  }

  var routes: HTTPRoutes {
    var routes = HTTPRoutes()
    func add(
      _ path: String, _ method: HTTPMethod, _ reply: @escaping (WholeRequest) -> Site.Reply
    ) {
      routes.on(method, path) { request in
        request.whole().flatMap(maxPublishers: .max(1)) { reply($0).mapError { $0 as any Error } }
      }
    }
    func add(_ path: String, _ method: HTTPMethod = .get, _ answer: @escaping Site.Answer) {
      add(path, method) { [ask] request in ask(request, answer) }
    }
    /// Responds with text that is the same for every client.
    func show(_ path: String, _ type: String, _ text: String) {
      routes.get(path) { [access] request in
        request.whole().map { Site.answer($0, type, text, access) }
      }
    }
    for path in ["/", "/feed/:name"] { add(path) { $0.page($1) } }
    add("/star", .post) { $0.star($1) }
    add("/slideshow") { $0.slideshow($1) }
    add("/frame.png") { $0.frame($1) }
    if hasHubs {
      add(Site.pushPath + ":name") { $0.verifyPush($1) }
      add(Site.pushPath + ":name", .post) { $0.takePush($1) }
      add(Site.hubPath, .post) { $0.takeSubscription($1) }
    }
    add(RequestSigner.directoryPath) { $0.keys($1) }
    add("/health") { $0.health($1) }
    add("/feed.json") { $0.feed($1, "/feed.json", "application/feed+json; charset=utf-8") { $0.json(at: $1) } }
    add("/feed.atom") { $0.feed($1, "/feed.atom", "application/atom+xml; charset=utf-8") { $0.atom(at: $1) } }
    add("/metrics") { $0.metrics($1) }
    add("/image/:key") { $0.image($1) }
    show("/style.css", "text/css; charset=utf-8", PageAssets.style)
    show("/script.js", "text/javascript; charset=utf-8", PageAssets.script)
    show("/slideshow.js", "text/javascript; charset=utf-8", PageAssets.slideshow)
    show("/icon.svg", "image/svg+xml", PageAssets.icon)
    add("/events", .get, events)
    return routes
  }
}
