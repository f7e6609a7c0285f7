import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct MiddlewareTests {
  private func ask(_ bench: Bench, _ line: String, _ fields: String = "") -> String {
    bench.send("\(line) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n").receive()
  }

  @Test func `cors, compression and the server's own fields keep each other's Vary`() {
    var routes = HTTPRoutes()
    routes.use(.cors(origins: ["https://a.example"]))
    let text = Chunk(String(repeating: "x", count: 600))
    routes.get("/") { _ in .init(headers: ["Content-Type": "text/plain", "Vary": "Accept-Language"], body: text) }
    let bench = Bench().serve(routes)
    bench.server.headers = ["Vary": "Cookie"]
    let got = ask(bench, "GET /", "Origin: https://a.example\r\n")
    let fields = got.split(separator: "\r\n").filter { $0.hasPrefix("Vary: ") }.map { $0.dropFirst(6) }
    #expect(fields == ["Accept-Language, Origin, Accept-Encoding", "Cookie"], "\(got)")
    bench.end()
  }

  @Test func `middleware sees every response, and the first is the outermost`() {
    var seen: [String] = []
    func note(_ name: String) -> HTTPMiddleware {
      HTTPMiddleware { next in
        { request in
          seen.append("\(name) \(request.path)")
          return try next(request).map { seen.append("\(name) \($0.status.code)") }
        }
      }
    }
    var routes = HTTPRoutes()
    routes.use(note("a"))
    routes.use(note("b"))
    routes.get("/now") { _ in .text("now") }
    routes.get("/later") { _ in Just(ServerResponse.text("later")) }
    routes.get("/error") { _ in throw HTTPStatus.conflict }
    let bench = Bench().serve(routes)
    for path in ["/now", "/later", "/error", "/none"] { _ = ask(bench, "GET \(path)") }
    #expect(
      seen == [
        "a /now", "b /now", "b 200", "a 200", "a /later", "b /later", "b 200", "a 200", "a /error", "b /error", "b 409",
        "a 409", "a /none", "b /none", "b 404", "a 404",
      ])
    bench.end()
  }

  @Test func `a group's middleware sees its handlers' errors, and other methods of its paths`() {
    var codes: [Int] = []
    var routes = HTTPRoutes()
    routes.usesProblems = true
    routes.group("/api", [.log { codes.append($0.status.code) }, .cors(origins: ["https://a.example"])]) { api in
      api.put("/ok") { _ in .text("ok") }
      api.get("/error") { _ in throw HTTPStatus.conflict }
      api.get("/later") { _ in Fail<ServerResponse, HTTPStatus>(error: .gone) }
      api.get("/empty") { _ in Empty<ServerResponse, Never>() }
      api.get("") { _ in .text("itself") }
    }
    routes.get("/both") { _ in .text("both") }
    routes.group("/both", [.cors(origins: ["https://a.example"])]) { $0.put("") { _ in .text("put") } }
    let bench = Bench().serve(routes)
    bench.server.onError = { _ in }
    let origin = "Origin: https://a.example\r\n"
    let preflight = ask(bench, "OPTIONS /api/ok", origin + "Access-Control-Request-Method: PUT\r\n")
    #expect(preflight.hasPrefix("HTTP/1.1 204") && preflight.contains("Access-Control-Allow-Methods: "), "\(preflight)")
    let both = ask(bench, "OPTIONS /both", origin + "Access-Control-Request-Method: PUT\r\n")
    #expect(both.contains("Access-Control-Allow-Methods: "), "\(both)")
    for (path, status) in [("error", "409"), ("later", "410"), ("empty", "500")] {
      let response = ask(bench, "GET /api/\(path)", origin)
      #expect(response.hasPrefix("HTTP/1.1 \(status)"), "\(response)")
      #expect(response.contains("Access-Control-Allow-Origin: https://a.example\r\n"), "\(response)")
      #expect(response.contains("Content-Type: application/problem+json\r\n"), "\(response)")
    }
    #expect(ask(bench, "POST /api/ok", origin).contains("Access-Control-Allow-Origin"))
    #expect(ask(bench, "GET /api").hasSuffix("itself"))
    #expect(ask(bench, "GET /api/none").hasPrefix("HTTP/1.1 404"))
    #expect(codes == [204, 409, 410, 500, 405, 200])
    bench.end()
  }

  @Test func `a preflight is for the route that serves the request after it`() {
    var routes = HTTPRoutes()
    routes.group("/a", [.cors(origins: ["https://a.example"])]) { $0.put("/:id") { _ in .text("first") } }
    routes.group("/a", [.cors(origins: ["https://b.example"])]) { $0.put("/x") { _ in .text("second") } }
    routes.post("/b") { _ in .text("other") }
    routes.group("/b", [.cors(origins: ["https://a.example"])]) { $0.get("") { _ in .text("got") } }
    let bench = Bench().serve(routes)
    let origin = "Origin: https://a.example\r\n"
    for (method, path) in [("PUT", "/a/x"), ("HEAD", "/b")] {
      let preflight = ask(bench, "OPTIONS \(path)", origin + "Access-Control-Request-Method: \(method)\r\n")
      for response in [preflight, ask(bench, "\(method) \(path)", origin)] {
        #expect(response.contains("Access-Control-Allow-Origin: https://a.example\r\n"), "\(response)")
      }
    }
    bench.end()
  }

  @Test func `outer middleware sees the refusals of inner middleware, and a group's state is shared by its routes`() {
    var seen: [String] = []
    func note(_ name: String) -> HTTPMiddleware {
      HTTPMiddleware { next in
        var count = 0
        return { request in
          count += 1
          let number = count
          return try next(request).map { seen.append("\(name)\(number) \($0.status.code)") }
        }
      }
    }
    var routes = HTTPRoutes()
    routes.use(note("all"))
    routes.use(.bearer { $0 == "good" ? "me" : nil })
    routes.group("/a/:name", [note("a")]) { a in
      a.get("/one") { .text($0.parameters["name"] ?? "") }
      a.group("/b", [note("b")]) { $0.get("/two") { _ in .text("two") } }
    }
    let bench = Bench().serve(routes)
    let good = "Authorization: Bearer good\r\n"
    #expect(ask(bench, "GET /a/x/one").hasPrefix("HTTP/1.1 401"))
    #expect(ask(bench, "GET /a/x/one", good).hasSuffix("x"))
    #expect(ask(bench, "GET /a/x/b/two", good).hasSuffix("two"))
    #expect(ask(bench, "POST /a/x/b/two", good).hasPrefix("HTTP/1.1 405"))
    #expect(
      seen == ["all1 401", "a1 200", "all2 200", "b1 200", "a2 200", "all3 200", "b2 405", "a3 405", "all4 405"])
    bench.end()
  }

  @Test func `the log middleware records 101 for an upgraded connection`() {
    var codes: [Int] = []
    var routes = HTTPRoutes()
    routes.use(.log { codes.append($0.status.code) })
    routes.get("/") { _ in .upgrade(to: "other", headers: [:]) { _ in } }
    let bench = Bench().serve(routes)
    let response = ask(bench, "GET /", "Connection: Upgrade\r\nUpgrade: other\r\n")
    #expect(response.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
    #expect(codes == [101])
    bench.end()
  }

  @Test func `middleware is created once and can keep state`() {
    var routes = HTTPRoutes()
    routes.use(
      HTTPMiddleware { next in
        var count = 0
        return { request in
          count += 1
          return try next(request).map { [count] in $0.headers["X-Count"] = "\(count)" }
        }
      })
    routes.get("/") { _ in .text("page") }
    let bench = Bench().serve(routes)
    #expect(ask(bench, "GET /").contains("X-Count: 1\r\n"))
    #expect(ask(bench, "GET /").contains("X-Count: 2\r\n"))
    bench.end()
  }

  @Test func `a route group has its own path and middleware, and can contain another group`() {
    var routes = HTTPRoutes()
    routes.get("/") { _ in .text("root") }
    routes.group("/api", [.bearer { $0 == "secret" ? "ann" : nil }]) { api in
      api.get("/me") { .text($0.user ?? "") }
      api.group("/deep") { $0.get("/:id") { .text("\(try $0.parameter("id", as: Int.self) + 1)") } }
    }
    let bench = Bench().serve(routes)
    #expect(ask(bench, "GET /").hasSuffix("root"))
    let refused = ask(bench, "GET /api/me")
    #expect(refused.hasPrefix("HTTP/1.1 401") && refused.contains("WWW-Authenticate: Bearer\r\n"))
    #expect(ask(bench, "GET /api/me", "Authorization: Bearer wrong\r\n").hasPrefix("HTTP/1.1 401"))
    #expect(ask(bench, "GET /api/me", "Authorization: bearer secret\r\n").hasSuffix("ann"))
    #expect(ask(bench, "GET /api/deep/41", "Authorization: Bearer secret\r\n").hasSuffix("42"))
    #expect(ask(bench, "GET /api/deep/x", "Authorization: Bearer secret\r\n").hasPrefix("HTTP/1.1 404"))
    bench.end()
  }

  @Test func `basic credentials are parsed, even with colons in the password`() {
    var routes = HTTPRoutes()
    routes.use(.basic(realm: "a\"\u{301}b\r\n") { $0 == "ann" && $1 == "p:w" })
    routes.get("/") { .text($0.user ?? "") }
    let bench = Bench().serve(routes)
    // ann:p:w and ann:x
    #expect(ask(bench, "GET /", "Authorization: Basic YW5uOnA6dw==\r\n").hasSuffix("ann"))
    let refused = ask(bench, "GET /", "Authorization: Basic YW5uOng=\r\n")
    #expect(refused.contains("WWW-Authenticate: Basic realm=\"a\u{301}b\", charset=\"UTF-8\"\r\n"))
    #expect(ask(bench, "GET /", "Authorization: Basic !\r\n").hasPrefix("HTTP/1.1 401"))
    bench.end()
  }

  @Test func `rateLimit refuses a client with 429 until its bucket refills`() {
    var routes = HTTPRoutes()
    routes.use(.rateLimit(3, per: .seconds(30)))
    routes.get("/") { _ in .text("ok") }
    let bench = Bench().serve(routes)
    for _ in 0..<3 { #expect(ask(bench, "GET /").hasPrefix("HTTP/1.1 200")) }
    let refused = ask(bench, "GET /")
    #expect(refused.hasPrefix("HTTP/1.1 429") && refused.contains("Retry-After: 10\r\n"))
    bench.pass(.seconds(10))
    #expect(ask(bench, "GET /").hasPrefix("HTTP/1.1 200"))
    #expect(ask(bench, "GET /").hasPrefix("HTTP/1.1 429"))
    let other = bench.connect(from: "192.0.2.77")
    other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    bench.settle()
    #expect(other.receive().hasPrefix("HTTP/1.1 200"))
    bench.end()
  }

  @Test func `a password may begin with a combining character`() {
    var routes = HTTPRoutes()
    routes.use(.basic(realm: "r") { $0 == "ann" && $1 == "\u{301}:x" })
    routes.get("/") { .text($0.user ?? "") }
    let bench = Bench().serve(routes)
    let login = Data("ann:\u{301}:x".utf8).base64EncodedString()
    #expect(ask(bench, "GET /", "Authorization: Basic \(login)\r\n").hasSuffix("ann"))
    bench.end()
  }

  @Test func `requestIDs generates ids, keeps valid ones, and logs them`() {
    var log: [String] = []
    var routes = HTTPRoutes()
    routes.use(.requestIDs { "made" })
    routes.use(.log { log.append($0.description) })
    routes.get("/") { .text($0.id ?? "none") }
    let bench = Bench().serve(routes)
    let made = ask(bench, "GET /?secret=1")
    #expect(made.contains("X-Request-ID: made\r\n") && made.hasSuffix("made"))
    #expect(ask(bench, "GET /", "X-Request-ID: a-b_c.1\r\n").hasSuffix("a-b_c.1"))
    #expect(ask(bench, "GET /", "X-Request-ID: <script>\r\n").hasSuffix("made"))
    #expect(log.count == 3)
    #expect(log.first?.hasPrefix("GET / 200 ") == true && log.first?.hasSuffix(" made") == true)
    #expect(log.allSatisfy { !$0.contains("secret") })
    bench.end()
  }

  @Test func `every kind of response has exactly one X-Request-ID, the middleware's`() {
    var routes = HTTPRoutes()
    routes.use(.requestIDs { "made" })
    routes.get("/short") { _ in ServerResponse(.ok, headers: ["x-request-id": "own"], body: "short") }
    routes.get("/long") { _ in
      ServerResponse(.ok, headers: ["X-Request-ID": "own"], body: Chunk([UInt8](repeating: 1, count: 100_000)))
    }
    routes.get("/none") { _ in ServerResponse(.noContent) }
    routes.get("/stream") { _ in ServerResponse(body: Just(Chunk("piece"))) }
    routes.get("/late") { _ in Just(ServerResponse.text("late")) }
    routes.get("/failed") { _ -> ServerResponse in throw HTTPStatus.conflict }
    routes.get("/socket") { _ in .upgrade(to: "other", headers: [:]) { _ in } }
    let bench = Bench().serve(routes)
    bench.server.headers = ["X-Request-ID": "always"]
    for path in ["/short", "/long", "/none", "/stream", "/late", "/failed", "/unknown", "/socket"] {
      let head = ask(bench, "GET \(path)", "Connection: Upgrade\r\nUpgrade: other\r\n").prefix(while: \.isASCII)
      let fields = head.lowercased().split(separator: "\r\n").filter { $0.hasPrefix("x-request-id:") }
      #expect(fields == ["x-request-id: made"], "\(path)")
    }
    bench.end()
  }

  @Test func `an id with line breaks makes the response a 500`() {
    var routes = HTTPRoutes()
    routes.use(.requestIDs { "a\r\nX-Evil: 1" })
    routes.get("/") { _ in .text("page") }
    let bench = Bench().serve(routes)
    bench.server.onError = { _ in }
    let answer = ask(bench, "GET /")
    #expect(answer.hasPrefix("HTTP/1.1 500 ") && !answer.contains("Evil"))
    bench.end()
  }

  @Test func `generated request ids are short and unique, and outer log middleware sees them`() {
    var log: [CompletedRequest] = []
    var routes = HTTPRoutes()
    routes.use(.log { log.append($0) })
    routes.use(.requestIDs())
    routes.get("/") { .text($0.id ?? "none") }
    routes.get("/late") { request in Just(ServerResponse.text(request.id ?? "none")) }
    let bench = Bench().serve(routes)
    let answers = ["/", "/late", "/", "/none"].map { ask(bench, "GET \($0)") }
    let ids = log.compactMap(\.id)
    #expect(ids.count == 4 && Set(ids).count == 4)
    #expect(ids.allSatisfy { $0.utf8.count == 13 && $0.allSatisfy { $0.isNumber || ("a"..."v").contains($0) } })
    for (answer, id) in zip(answers, ids) { #expect(answer.contains("X-Request-ID: \(id)\r\n")) }
    #expect(answers[0].hasSuffix(ids[0]) && answers[1].hasSuffix(ids[1]))
    bench.end()
  }

  @Test func `logged requests contain the path of their route, with its placeholders`() {
    var log: [CompletedRequest] = []
    var routes = HTTPRoutes()
    routes.use(.log { log.append($0) })
    routes.get("/") { _ in .text("page") }
    routes.group("/api") {
      $0.get("/feeds/:name") { request in Just(ServerResponse.text(request.route ?? "none")) }
    }
    routes.get("/broken") { _ in throw HTTPStatus.badGateway }
    let bench = Bench().serve(routes)
    let answers = ["/", "/api/feeds/nature", "/broken", "/missing"].map { ask(bench, "GET \($0)") }
    #expect(log.map(\.route) == ["/", "/api/feeds/:name", "/broken", nil])
    #expect(answers[1].hasSuffix("/api/feeds/:name"))
    bench.end()
  }

  @Test func `middleware runs in order, and responses return in reverse order`() {
    var order: [String] = []
    func noting(_ name: String) -> HTTPMiddleware {
      HTTPMiddleware { next in
        { request in
          order.append(name)
          return try next(request).map { _ in order.append("\(name) back") }
        }
      }
    }
    var routes = HTTPRoutes()
    routes.use(noting("first"))
    routes.use(noting("second"))
    routes.group("/a", [noting("third"), noting("fourth")]) { $0.get("/b") { _ in .text("ok") } }
    let bench = Bench().serve(routes)
    #expect(ask(bench, "GET /a/b").hasPrefix("HTTP/1.1 200"))
    #expect(
      order == ["first", "second", "third", "fourth", "fourth back", "third back", "second back", "first back"])
    bench.end()
  }

  @Test func `cors sends its permissions to other origins' pages`() {
    var routes = HTTPRoutes()
    routes.use(.cors(origins: ["https://a.example"], allowsCredentials: true))
    routes.put("/") { _ in .text("ok") }
    let bench = Bench().serve(routes)
    let asked = ask(bench, "OPTIONS /", "Origin: https://a.example\r\nAccess-Control-Request-Method: PUT\r\n")
    #expect(asked.hasPrefix("HTTP/1.1 204"))
    #expect(asked.contains("Access-Control-Allow-Origin: https://a.example\r\n"))
    #expect(asked.contains("Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE\r\n"))
    #expect(asked.contains("Access-Control-Allow-Credentials: true\r\n") && asked.contains("Vary: Origin\r\n"))
    let used = ask(bench, "PUT /", "Origin: https://a.example\r\nContent-Length: 0\r\n")
    #expect(used.hasPrefix("HTTP/1.1 200") && used.contains("Access-Control-Allow-Origin: https://a.example\r\n"))
    let other = ask(bench, "OPTIONS /", "Origin: https://b.example\r\nAccess-Control-Request-Method: PUT\r\n")
    #expect(!other.contains("Access-Control-Allow") && other.contains("Vary: Origin\r\n"))
    // Without an origin, this is an ordinary OPTIONS request.
    #expect(ask(bench, "OPTIONS /").contains("Allow: PUT, OPTIONS\r\n"))
    bench.end()
  }
}
