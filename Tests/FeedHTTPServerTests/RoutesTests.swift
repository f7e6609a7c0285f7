import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct RoutesTests {
  private func ask(_ bench: Bench, _ line: String, _ fields: String = "") -> String {
    bench.send("\(line) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n").receive()
  }

  private func body(_ answer: String) -> String { answer.components(after: "\r\n\r\n") }

  @Test func `a request is handled by the first route with its path and method`() {
    var routes = HTTPRoutes()
    routes.get("/") { _ in .text("root") }
    routes.get("/feeds/:name") { .text("feed \($0.parameters["name"]!)") }
    routes.get("/feeds/all") { _ in .text("never") }
    routes.post("/feeds") { request in request.body.whole().map { .text("new \($0.text)") } }
    routes.on(.delete, "/feeds/:name") { _ in .init(.noContent) }
    let bench = Bench().serve(routes)
    #expect(body(ask(bench, "GET /")) == "root")
    #expect(body(ask(bench, "GET /?a")) == "root")
    #expect(body(ask(bench, "GET http://h")) == "root")
    #expect(body(ask(bench, "GET /feeds/a%2Fb")) == "feed a/b")
    #expect(body(ask(bench, "GET /feeds/all")) == "feed all")
    #expect(ask(bench, "HEAD /").hasSuffix("Content-Length: 4\r\n\r\n"))
    #expect(ask(bench, "DELETE /feeds/a").hasPrefix("HTTP/1.1 204"))
    #expect(body(bench.send("POST /feeds HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx").receive()) == "new x")
    for path in ["/nothing", "/feeds/", "/feeds/a/", "/feeds/%ff", "//"] {
      #expect(ask(bench, "GET \(path)").hasPrefix("HTTP/1.1 404"), "\(path)")
    }
    let wrong = ask(bench, "PUT /feeds/a")
    #expect(wrong.hasPrefix("HTTP/1.1 405") && wrong.contains("Allow: GET, HEAD, DELETE, OPTIONS\r\n"))
    // A method that the server doesn't know at all gets 501, not 405 (RFC 9110, 15.6.2). Methods are case-sensitive.
    for method in ["BREW", "get", "GETT", "M-SEARCH"] {
      #expect(ask(bench, "\(method) /feeds/a").hasPrefix("HTTP/1.1 501"), "\(method)")
    }
    #expect(body(ask(bench, "GET /%66eeds/a")) == "feed a")
    #expect(ask(bench, "GET /feeds%2Fa").hasPrefix("HTTP/1.1 404"))
    #expect(ask(bench, "OPTIONS /feeds").contains("Allow: POST, OPTIONS\r\n"))
    #expect(ask(bench, "OPTIONS *").hasPrefix("HTTP/1.1 204"))
    bench.end()
  }

  @Test func `a folder's files are served with their media types, and nothing outside it`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "routes-\(UUID())")
    let files = FileManager.default
    try files.createDirectory(at: folder.appending(path: "public/sub"), withIntermediateDirectories: true)
    defer { try? files.removeItem(at: folder) }
    func write(_ path: String, _ text: String) throws {
      try Data(text.utf8).write(to: folder.appending(path: path))
    }
    try write("secret", "secret")
    try write("public/index.html", "<p>")
    try write("public/a b.css", "p{}")
    try write("public/.hidden", "secret")
    try write("public/sub/index.html", "sub")
    try files.createDirectory(at: folder.appending(path: "public/empty"), withIntermediateDirectories: true)
    try write("public/long", String(repeating: "0123456789", count: 30_000))
    try files.createSymbolicLink(
      at: folder.appending(path: "public/link"), withDestinationURL: folder.appending(path: "secret"))
    try files.createSymbolicLink(at: folder.appending(path: "public/way"), withDestinationURL: folder)
    mkfifo(folder.appending(path: "public/pipe").path, 0o600)
    var routes = HTTPRoutes()
    routes.files("/f", in: folder.appending(path: "public").path)
    routes.group("/g") { $0.files("/t/", in: folder.appending(path: "public").path) }
    routes.files("/all", .init(folder.appending(path: "public").path, links: .followed))
    let bench = Bench().serve(routes)

    let page = ask(bench, "GET /f/")
    #expect(page.contains("Content-Type: text/html; charset=utf-8\r\n") && body(page) == "<p>")
    #expect(page.contains("X-Content-Type-Options: nosniff\r\n"))
    let root = ask(bench, "GET /f?a=b")
    #expect(root.hasPrefix("HTTP/1.1 301") && root.contains("Location: ./f/?a=b\r\n"))
    #expect(body(ask(bench, "GET /g/t/sub/")) == "sub")
    #expect(body(ask(bench, "GET /f/sub/")) == "sub")
    let moved = ask(bench, "GET /f/sub?a=b")
    #expect(moved.hasPrefix("HTTP/1.1 301") && moved.contains("Location: ./sub/?a=b\r\n"))
    #expect(body(ask(bench, "GET /f/%73ub%2findex.html")) == "sub")
    #expect(ask(bench, "GET /f/a%20b.css").contains("Content-Type: text/css; charset=utf-8\r\n"))
    for path in [
      "/f/../secret", "/f/%2e%2e/secret", "/f/..%2fsecret", "/f/sub/../../secret", "/f//index.html", "/f/.hidden",
      "/f/link", "/f/way/secret", "/f/pipe", "/f/empty", "/f/a%00", "/f/%252e%252e/secret", "/f/sub%5c..%5c..%5csecret",
      "/f/sub%2f..%2f..%2fsecret", "/f/x%D8%80/../secret", "/f/sub%D8%80/../../secret", "/f/%cc%81/../secret",
      "/f/...", "/f/../public/index.html", "/f/index.html%2f", "/f/folded%CC%81.hidden", "/f/%ff", "/f/..%5csecret",
      "/f/none",
      "/f/index.html/",
      "/f/./index.html",
    ] {
      let answer = ask(bench, "GET \(path)")
      #expect(answer.hasPrefix("HTTP/1.1 404") && !answer.contains("secret"), "\(path)")
    }
    #expect(body(ask(bench, "GET /all/link")) == "secret")

    let long = ask(bench, "GET /f/long")
    #expect(body(long).count == 300_000 && long.contains("Content-Length: 300000\r\n"))
    let tag = long.components(after: "ETag: ").prefix { $0 != "\r\n" }
    #expect(ask(bench, "GET /f/long", "If-None-Match: \(tag)\r\n").hasPrefix("HTTP/1.1 304"))
    #expect(body(ask(bench, "GET /f/long", "Range: bytes=299998-\r\n")) == "89")
    #expect(body(ask(bench, "GET /f/long", "Range: bytes=0-199999\r\n")).count == 200_000)
    let head = ask(bench, "HEAD /f/long")
    #expect(head.contains("Content-Length: 300000\r\n") && body(head) == "")
    #expect(ask(bench, "POST /f/long").hasPrefix("HTTP/1.1 405"))
    bench.end()
  }
}
