internal import FeedStream

extension HTTPRoutes {
  /// Turns on the live map of streams, and adds three routes: a page at `path`, which shows the map and reloads itself;
  /// the map as JSON at `path.json`; and the page's style at `path.css`.
  ///
  ///     var routes = HTTPRoutes()
  ///     routes.group("/debug", [.bearer { $0 == "secret" ? "me" : nil }]) { $0.streamMap("/streams") }
  ///
  /// The page doesn't need scripts. It shows names of source files and the text of failures, so protect the page, for
  /// example with the middleware of a group.
  ///
  /// - Parameters:
  ///   - path: begins with a slash, and has no parameters.
  ///   - interval: the time after which the page reloads, in whole seconds; at least one second, and two by default.
  public mutating func streamMap(_ path: String = "/streams", every interval: Duration = .seconds(2)) {
    StreamDiagnostics.startMap()
    let seconds = max(1, interval.components.seconds)
    let style = String(path.split(separator: "/").last ?? "") + ".css"
    on(.get, path) { request in
      request.streamMap { .streamMap(StreamMapPage($0, style: style, seconds: seconds).html) }
    }
    on(.get, path + ".json") { request in request.streamMap { try .json($0, headers: .uncached) } }
    on(.get, path + ".css") { _ in
      ServerResponse(headers: ["Content-Type": "text/css; charset=utf-8"], body: Chunk(StreamMapPage.style))
    }
  }
}

extension ServerRequest {
  /// Responds with the streams of all loops; in virtual time, with those of the current thread.
  fileprivate func streamMap(
    _ respond: @escaping (StreamMap) throws -> ServerResponse
  ) -> AnyPublisher<ServerResponse, any Error> {
    guard let loop = scheduler as? EventLoop else {
      return Just(StreamDiagnostics.snapshot()).tryMap(respond).eraseToAnyPublisher()
    }
    return StreamDiagnostics.snapshot(on: loop).tryMap(respond).eraseToAnyPublisher()
  }
}

extension HTTPHeaders {
  fileprivate static var uncached: Self { ["Cache-Control": "no-store"] }
}

extension ServerResponse {
  fileprivate static func streamMap(_ page: String) -> Self {
    var response = html(page)
    response.headers.add("Cache-Control", "no-store")
    response.headers.add(
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    response.headers.add("X-Content-Type-Options", "nosniff")
    return response
  }
}

/// The live map as a page of nested lists.
struct StreamMapPage {
  private let map: StreamMap
  private let style: String
  private let seconds: Int64
  private var text = ""
  private var seen: Set<Int> = []

  init(_ map: StreamMap, style: String, seconds: Int64) {
    self.map = map
    self.style = style
    self.seconds = seconds
  }

  var html: String {
    var page = self
    page.write()
    return page.text
  }

  private mutating func write() {
    let ends = map.nodes.filter(\.isEnd)
    text = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta http-equiv="refresh" content="\(seconds)"><title>Streams</title>
      <link rel="stylesheet" href="\(escaped(style))"></head><body>
      <h1>\(ends.count) stream\(ends.count == 1 ? "" : "s")</h1>
      """
    let notes =
      map.stuckPlaces.map { "<b>\(escaped($0.title))</b>: \(escaped($0.message))" }
      + map.silentLoops.map {
        "<b>\(escaped($0))</b> does not respond, because it is blocked or not running; its streams are missing here"
      }
      + (map.isCut ? ["This map has reached its limit, so some nodes are missing here"] : [])
    if !notes.isEmpty {
      text += "\n<h2>Places that may be stuck</h2>\n<ul class=\"stuck\">"
      for note in notes { text += "<li>\(note)</li>\n" }
      text += "</ul>"
    }
    var loop: String?
    for end in ends {
      if end.loop != loop { text += "\n<h2>\(escaped(end.loop))</h2>" }
      loop = end.loop
      text += "\n<ul>"
      write(end.id, on: end.loop)
      text += "</ul>"
    }
    text += "\n</body></html>\n"
  }

  private mutating func write(_ id: Int, on loop: String) {
    let node = map.nodes[id]
    let isStuck = map.findings.contains { $0.node == id }
    text += "<li\(isStuck ? " class=\"stuck\"" : "")><b>\(escaped(map.title(id)))</b>"
    guard seen.insert(id).inserted else {
      text += " (above)</li>"
      return
    }
    for fact in map.facts(of: node) + (node.loop == loop ? [] : ["on \(node.loop)"]) {
      text += " <span>\(escaped(fact))</span>"
    }
    if !node.upstreams.isEmpty {
      text += "\n<ul>"
      for upstream in node.upstreams { write(upstream, on: node.loop) }
      text += "</ul>"
    }
    text += "</li>\n"
  }

  private func escaped(_ text: String) -> String {
    // A character can be more than one of these scalars.
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  static let style = """
    :root { color-scheme: light dark; }
    body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
    ul { list-style: none; margin: 0; padding-left: 1.2rem; border-left: 1px solid GrayText; }
    li { margin: .2rem 0; overflow-wrap: anywhere; }
    span { color: GrayText; margin-left: .6rem; white-space: nowrap; }
    li.stuck > b, ul.stuck b { color: #b3261e; }
    @media (prefers-color-scheme: dark) { li.stuck > b, ul.stuck b { color: #ff8a80; } }

    """
}
