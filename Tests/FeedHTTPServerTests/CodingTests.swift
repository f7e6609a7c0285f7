import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct CodingTests {
  private struct Item: Codable, Equatable {
    enum Kind: String, Codable { case small, large }
    var name: String
    var count: Int?
    var kind: Kind?
    var tags: [String]?
    var isOn: Bool?
  }

  private func post(_ bench: Bench, _ body: String, type: String? = "application/json") -> String {
    let field = type.map { "Content-Type: \($0)\r\n" } ?? ""
    return bench.send("POST /items HTTP/1.1\r\nHost: h\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      .receive()
  }

  private func bench() -> Bench {
    var routes = HTTPRoutes()
    routes.usesProblems = true
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    routes.post("/items") { request in
      request.decoded(as: Item.self, from: [.json, .form]).tryMap {
        try .json($0, .created, headers: ["Location": "/items/1"], encoder: encoder)
      }
    }
    routes.get("/items") { request in try .json(try request.query(as: Item.self), encoder: encoder) }
    routes.get("/broken") { _ in throw URLError(.badURL) }
    return Bench().serve(routes)
  }

  @Test func `JSON and form bodies decode to values, and values encode to JSON`() {
    let bench = bench()
    let made = post(bench, #"{"name":"a","tags":["x"],"kind":"small"}"#, type: "application/JSON; charset=utf-8")
    #expect(made.hasPrefix("HTTP/1.1 201 Created\r\n") && made.contains("Location: /items/1\r\n"))
    #expect(made.contains("Content-Type: application/json\r\n"))
    #expect(made.hasSuffix(#"{"kind":"small","name":"a","tags":["x"]}"#))
    #expect(post(bench, #"{"name":"m"}"#, type: "application/merge-patch+json").hasPrefix("HTTP/1.1 201"))
    let form = post(bench, "name=a+b%26&tags=x&tags=y&count=3&isOn=true", type: "application/x-www-form-urlencoded")
    #expect(form.hasSuffix(#"{"count":3,"isOn":true,"name":"a b&","tags":["x","y"]}"#))
    // A combining character after a delimiter belongs to the next name or value.
    let raw = post(bench, "name=\u{301}&\u{301}=1&count=2", type: "application/x-www-form-urlencoded")
    #expect(raw.hasSuffix("{\"count\":2,\"name\":\"\u{301}\"}"))
    bench.end()
  }

  @Test func `a compressed body is refused with 415 and Accept-Encoding: identity`() {
    let bench = bench()
    let refused = bench.send(
      "POST /items HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
        + "Content-Length: 2\r\n\r\n{}"
    ).receive()
    #expect(refused.hasPrefix("HTTP/1.1 415 ") && refused.contains("Accept-Encoding: identity\r\n"))
    let read = bench.send(
      "POST /items HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Encoding: Identity\r\n"
        + "Content-Length: 12\r\n\r\n{\"name\":\"a\"}"
    ).receive()
    #expect(read.hasPrefix("HTTP/1.1 201 "))
    bench.end()
  }

  @Test(
    arguments: [
      (#"{"name":x}"#, "The document is malformed around byte 8."),
      (#"{"ä":x}"#, "The document is malformed around byte 6."),
      (#"{"name":"#, "The document is malformed around byte 8."),
      // Foundation's description of this flaw quotes the body.
      (#"{"name":"\u12g4"}"#, "The document is malformed."),
      (#"[]"#, "The document is not an object."), (#"{"name":1}"#, "name is not a string."),
      (#"{"name":"a","count":"x"}"#, "count is not a whole number."),
      (#"{"name":"a","tags":"x"}"#, "tags is not an array."),
      (#"{"name":"a","isOn":1}"#, "isOn is not true or false."),
      (#"{"name":"a","tags":[1]}"#, "tags[0] is not a string."),
    ]) func `a decoding problem names types in JSON's terms, and never quotes the body`(body: String, detail: String)
  {
    let bench = bench()
    let answer = post(bench, body)
    #expect(answer.contains(#""detail":"\#(detail)""#), "\(answer)")
    bench.end()
  }

  /// A body, its type, and the status.
  @Test(
    arguments: [
      (#"{"name":"#, "application/json", 400), ("", "application/json", 400), (#"{"name":1}"#, "application/json", 422),
      ("{}", "application/json", 422), ("[]", "application/json", 422),
      (#"{"name":"a","kind":"huge"}"#, "application/json", 422),
      ("name=a", "text/plain", 415), ("name=a", nil, 415), ("count=x", "application/x-www-form-urlencoded", 422),
      ("name=%zz", "application/x-www-form-urlencoded", 400),
      ("name=a&name=b", "application/x-www-form-urlencoded", 422),
    ] as [(String, String?, Int)]) func `a body that doesn't decode is a problem response`(
      body: String, type: String?, status: Int
    )
  {
    let bench = bench()
    let answer = post(bench, body, type: type)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.contains("Content-Type: application/problem+json\r\n"))
    #expect(answer.contains("\"status\":\(status)"))
    bench.end()
  }

  @Test func `a query decodes to a value, or else is a problem response`() {
    let bench = bench()
    func get(_ target: String) -> String { bench.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n").receive() }
    #expect(get("/items?name=a&count=2").hasSuffix(#"{"count":2,"name":"a"}"#))
    #expect(get("/items?name=a&count=two").hasPrefix("HTTP/1.1 400"))
    #expect(get("/items").contains("name is missing."))
    bench.end()
  }

  @Test func `missing routes, wrong methods and handler errors are problem responses`() {
    let bench = bench()
    var failed: [String] = []
    bench.server.onError = { failed.append($0.path) }
    func ask(_ line: String) -> String { bench.send("\(line) HTTP/1.1\r\nHost: h\r\n\r\n").receive() }
    let missing = ask("GET /none")
    #expect(missing.hasSuffix(#"{"status":404,"title":"Not Found"}"#))
    let method = ask("PUT /items")
    #expect(method.contains("Allow: POST, GET, HEAD, OPTIONS\r\n") && method.contains("application/problem+json"))
    let broken = ask("GET /broken")
    #expect(broken.hasPrefix("HTTP/1.1 500") && broken.contains(#""status":500"#) && !broken.contains("URLError"))
    #expect(failed == ["/broken"])
    bench.end()
  }

  @Test func `Routes.errors maps all errors thrown by handlers`() {
    struct Missing: Error { var name: String }
    var routes = HTTPRoutes()
    routes.errors = { error in
      guard let missing = error as? Missing else { return error }
      var problem = ProblemDetails(
        .notFound, detail: "\(missing.name) is not here.", type: "https://example.com/missing")
      problem.members = ["name": missing.name, "status": "no"]
      return problem
    }
    routes.get("/:name") { throw Missing(name: try $0.parameter("name")) }
    let bench = Bench().serve(routes)
    let answer = bench.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").receive()
    #expect(
      answer.hasSuffix(
        #"{"detail":"a is not here.","name":"a","status":404,"title":"Not Found","type":"https://example.com/missing"}"#
      ))
    bench.end()
  }

  @Test func `a route can allow longer bodies, and save them as files`() throws {
    var routes = HTTPRoutes()
    routes.put("/files/:name") { request in
      request.save(to: "/up/" + (request.parameters["name"] ?? "")).map { .init(.created) }
    }
    routes.limitBody(.put, "/files/:name", to: 100)
    routes.put("/other") { request in request.body.whole().map { _ in .init(.noContent) } }
    let bench = Bench { $0.bodyBytes = 10 }
    bench.time.files.makeFolder("/up")
    _ = bench.serve(routes)
    func put(_ path: String, _ count: Int, chunked: Bool = false) -> String {
      let body = String(repeating: "x", count: count)
      let framing = chunked ? "Transfer-Encoding: chunked" : "Content-Length: \(count)"
      let text = chunked ? "\(String(count, radix: 16))\r\n\(body)\r\n0\r\n\r\n" : body
      let client = bench.send("PUT \(path) HTTP/1.1\r\nHost: h\r\n\(framing)\r\n\r\n\(text)")
      bench.pass(.seconds(1))
      return client.receive()
    }
    #expect(put("/files/a", 100).hasPrefix("HTTP/1.1 201"))
    #expect(put("/files/b", 101).hasPrefix("HTTP/1.1 413"))
    #expect(put("/files/c", 101, chunked: true).hasPrefix("HTTP/1.1 413"))
    #expect(bench.time.files.paths == ["/up/a"])
    #expect(bench.time.files["/up/a"]?.count == 100)
    #expect(put("/other", 11).hasPrefix("HTTP/1.1 413"))
    #expect(put("/other", 10).hasPrefix("HTTP/1.1 204"))
    bench.end()
  }
}
