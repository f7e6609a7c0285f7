import FeedHTTPServer
import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled, .timeLimit(.minutes(5))) struct AdjustingTests {
  @Test func `adjusting changes every request of a client, and a request's own fields are kept`() throws {
    let bench = try UploadBench()
    let client = bench.client.adjusting {
      $0.headers.append(.init(name: "X-All", value: "1"))
      if !$0.has("Accept") { $0.headers.append(.init(name: "Accept", value: "application/json")) }
    }
    let own = HTTPRequest(.post, bench.url("/2"), headers: [.init(name: "Accept", value: "text/css")], body: .text("a"))
    for request in [HTTPRequest(bench.url("/1")), own] {
      #expect(try bench.send(request, with: client)?.get().status == 200)
    }
    #expect(try bench.send(HTTPRequest(bench.url("/3")))?.get().status == 200)
    #expect(bench.got.map { $0.headers["X-All"] } == ["1", "1", nil])
    #expect(bench.got.prefix(2).map { $0.headers["Accept"] } == ["application/json", "text/css"])
    #expect(bench.got.map(\.body) == ["", "a", ""])
  }

  @Test func `adjusting also changes streamed responses and requests for progress`() throws {
    let bench = try UploadBench()
    let client = bench.client.adjusting { $0.headers.append(.init(name: "X-All", value: "1")) }
    var (text, ends) = ("", 0)
    let opening = client.open(HTTPRequest(bench.url("/open"))).flatMap(\.body).sink { _ in
      ends += 1
      bench.loop.stop()
    } receiveValue: {
      text += $0.text
    }
    let progress = client.events(for: HTTPRequest(bench.url("/events"))).sink { _ in
      ends += 1
      bench.loop.stop()
    } receiveValue: { _ in
    }
    while ends < 2 { bench.loop.run() }
    #expect(text == "ok" && bench.got.allSatisfy { $0.headers["X-All"] == "1" } && bench.got.count == 2)
    for subscription in [opening, progress] { subscription.cancel() }
  }

  @Test func `the outer adjustment runs first, and its body limit applies`() throws {
    let bench = try UploadBench { _, _ in .text(String(repeating: "x", count: 100)) }
    let client = bench.client
      .adjusting { $0.headers.append(.init(name: "X-Size", value: "\($0.maxBodyBytes)")) }
      .adjusting { $0.maxBodyBytes = 50 }
    guard case .failure(let error) = bench.send(HTTPRequest(bench.url()), with: client) else {
      return #expect(Bool(false), "it was not limited")
    }
    #expect(error.kind == .tooLarge(limit: 50))
    #expect(bench.got.first?.headers["X-Size"] == "50")
  }

  @Test func `adjusting can set a timeout for all requests`() throws {
    let silent = RawOrigin { $0.waitForClose() }
    defer { silent.stop() }
    let bench = try UploadBench()
    var kind: HTTPError.Kind?
    withGrowingTimeout { timeout in
      let client = bench.client.adjusting { $0.timeout = timeout }
      if case .failure(let error) = bench.send(HTTPRequest(silent.url()), with: client) { kind = error.kind }
      return kind == .timedOut(.response)
    }
    #expect(kind == .timedOut(.response))
  }
}
