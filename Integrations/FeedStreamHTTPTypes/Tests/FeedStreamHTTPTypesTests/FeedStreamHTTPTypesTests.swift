import FeedHTTP
import FeedHTTPServer
import FeedStream
import FeedStreamHTTPTypes
import Foundation
import HTTPTypes
import Testing

private typealias ClientRequest = FeedHTTP.HTTPRequest
private typealias ClientResponse = FeedHTTP.HTTPResponse
private typealias Request = HTTPTypes.HTTPRequest
private typealias Response = HTTPTypes.HTTPResponse

@Suite struct FeedStreamHTTPTypesTests {
  @Test func `header fields keep their order, their case and their duplicates`() {
    let headers: HTTPHeaders = ["ETag": "\"1\"", "set-cookie": "a=1", "Set-Cookie": "b=2", "X-Own": ""]
    let fields = HTTPFields(headers)
    #expect(fields[values: .setCookie] == ["a=1", "b=2"])
    #expect(fields.map(\.name.rawName) == ["ETag", "set-cookie", "Set-Cookie", "X-Own"])
    #expect(HTTPHeaders(fields) == headers)
  }

  @Test func `fields that HTTP doesn't allow are left out`() {
    let headers: HTTPHeaders = ["a b": "1", "X": "1\r\nY: 2", "Z": "3"]
    #expect(HTTPFields(headers).map(\.name.rawName) == ["Z"])
  }

  @Test func `a request goes to a client and back`() throws {
    let fields: HTTPFields = [.accept: "text/plain", .contentLength: "3"]
    let request = Request(
      method: .post, scheme: "https", authority: "example.com:8443", path: "/a%20b?c=d", headerFields: fields)
    let converted = try #require(ClientRequest(request, body: .text("abc")))
    #expect(converted.url.absoluteString == "https://example.com:8443/a%20b?c=d")
    #expect(converted.method == .post && converted.body == .text("abc"))
    #expect(converted.headers == [.init(name: "Accept", value: "text/plain")])
    let back = try #require(Request(converted))
    #expect(back.authority == "example.com:8443" && back.path == "/a%20b?c=d" && back.scheme == "https")
    #expect(back.method == .post && back.headerFields == [.accept: "text/plain"])
  }

  @Test func `a request without an http URL is not converted`() {
    let places: [(scheme: String?, authority: String?)] = [
      ("ftp", "example.com"), ("https", ""), (nil, "example.com"), ("https", nil),
    ]
    for place in places {
      let request = Request(method: .get, scheme: place.scheme, authority: place.authority, path: "/")
      #expect(ClientRequest(request) == nil, "\(place)")
    }
  }

  @Test func `a path that would change the URL's host is not converted`() {
    func convert(_ path: String) -> ClientRequest? {
      ClientRequest(Request(method: .get, scheme: "http", authority: "example.org", path: path))
    }
    for path in ["@other.example/", ".other.example/x", "feed.json", "*", "http://other.example/x", ":80/"] {
      #expect(convert(path) == nil, "\(path)")
    }
    for path in ["", "?a=b", "/a", "//other.example/"] {
      #expect(convert(path)?.url.host() == "example.org", "\(path)")
    }
  }

  @Test(arguments: [
    "good.example/admin?x=", "me:secret@good.example", "good.example#", "good.example?", "good.example\\a",
  ]) func `an authority that isn't a host and a port is not converted`(authority: String) {
    #expect(ClientRequest(Request(method: .get, scheme: "https", authority: authority, path: "/public")) == nil)
  }

  @Test func `characters that join with a delimiter don't hide it`() {
    for (host, path) in [("good.example\u{600}@evil.example", "/"), ("good.example", "/a#\u{301}b")] {
      let request = Request(method: .get, scheme: "http", authority: host, path: path)
      #expect(ClientRequest(request) == nil, "\(host)\(path)")
    }
  }

  @Test func `a path with a fragment is not converted`() {
    #expect(ClientRequest(Request(method: .get, scheme: "https", authority: "good.example", path: "/a#b")) == nil)
  }

  @Test func `a URL with an IPv6 address is converted and back`() throws {
    for (text, authority) in [("http://[::1]:8080/a", "[::1]:8080"), ("http://[2001:db8::1]/a", "[2001:db8::1]")] {
      let url = try #require(URL(string: text))
      let request = try #require(Request(ClientRequest(url)))
      #expect(request.authority == authority)
      #expect(ClientRequest(request)?.url == url)
    }
  }

  @Test func `a method that is not a token is not converted`() {
    #expect(Request.Method(HTTPMethod(rawValue: "A B")) == nil)
    #expect(Request.Method(HTTPMethod.patch) == .patch && HTTPMethod(.delete) == .delete)
  }

  @Test func `a client's response is converted`() throws {
    let response = ClientResponse(
      status: 404, headers: ["Content-Type": "text/plain"], body: Data(), url: try #require(URL(string: "http://a")))
    #expect(Response(response) == .init(status: .notFound, headerFields: [.contentType: "text/plain"]))
  }

  @Test func `a server's handler uses both vocabularies`() throws {
    let loop = EventLoop()
    defer { loop.close() }
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve { request in
      guard let request = Request(request) else { return .init(.badRequest) }
      let text = "\(request.method) \(request.path ?? "") \(request.headerFields[.accept] ?? "")"
      return .init(Response(status: .accepted, headerFields: [.eTag: "\"1\""]), body: Chunk(text))
    }
    let port = try #require(server.address?.port)
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/a?b=c"))
    var response: ClientResponse?
    let asking = CurlHTTPClient(on: loop).get(ClientRequest(url, headers: [.init(name: "Accept", value: "text/a")]))
      .sink { _ in loop.stop() } receiveValue: { response = $0 }
    loop.run(.untilStopped)
    asking.cancel()
    serving.cancel()
    server.close()
    let received = try #require(response)
    #expect(String(decoding: received.body, as: UTF8.self) == "GET /a?b=c text/a")
    let converted = Response(received)
    #expect(converted.status == .accepted && converted.headerFields[.eTag] == "\"1\"")
  }
}
