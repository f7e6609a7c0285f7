import FeedHTTPServer
import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

@Suite(.settled) struct RedirectedBodyTests {
  private func bench(_ status: Int) throws -> UploadBench {
    try UploadBench { request, _ in
      request.path == "/from" ? .redirect(to: "/to", HTTPStatus(status)) : .text("there")
    }
  }

  @Test(arguments: [
    (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (301, "PUT", "PUT"),
    (302, "DELETE", "DELETE"), (307, "POST", "POST"), (308, "PATCH", "PATCH"),
  ]) func `a redirect keeps or changes the method as its status requires`(status: Int, method: String, then: String)
    throws
  {
    let bench = try bench(status)
    let request = HTTPRequest(HTTPMethod(rawValue: method), bench.url("/from"), body: .text("b"))
    #expect(try bench.send(request)?.get().body == Data("there".utf8))
    #expect(bench.got.map(\.method) == [method, then])
    #expect(bench.got.last?.body == (then == "GET" ? "" : "b"))
    #expect((bench.got.last?.headers["Content-Type"] == nil) == (then == "GET"))
  }

  @Test func `HEAD stays HEAD after 303`() throws {
    let bench = try bench(303)
    #expect(try bench.send(HTTPRequest(.head, bench.url("/from")))?.get().status == 200)
    #expect(bench.got.map(\.method) == ["HEAD", "HEAD"])
  }

  @Test func `after a redirect, a repeatable body is sent again, and other streams fail`() throws {
    let bench = try bench(307)
    var request = HTTPRequest(.post, bench.url("/from"), body: .stream(Just(Chunk("once"))))
    request.expectsContinue = false
    guard case .failure(let error) = bench.send(request) else { return #expect(Bool(false), "it was repeated") }
    #expect(error.kind == .body)
    #expect(error.cause.contains("only once"))
    request.body = .repeatable { Just(Chunk("again")) }
    #expect(try bench.send(request)?.get().body == Data("there".utf8))
    #expect(bench.got.map(\.body) == ["once", "again", "again"])
  }
}
