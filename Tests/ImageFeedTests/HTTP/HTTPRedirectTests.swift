import Foundation
import ImageFeed
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP

@Suite(.settled) struct HTTPRedirectTests {
  private func redirecting(_ status: String, to place: @escaping @Sendable (String) -> String?) -> RawOrigin {
    .answering { request in
      guard let target = place(request.path) else { return RawOrigin.answer("200 OK", [], Data(request.path.utf8)) }
      return RawOrigin.answer(status, ["Location: \(target)"], Data("<p>moved</p>".utf8))
    }
  }

  @Test(arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
  func `a redirect is followed`(status: String) {
    let origin = redirecting(status) { $0 == "/feed" ? "/moved" : nil }
    defer { origin.stop() }
    let response = HTTPBench().run(origin.url()).response
    #expect(response?.body == Data("/moved".utf8))
    #expect(response?.url == origin.url("/moved"))
    #expect(response?.headers["Location"] == nil)
  }

  @Test func `ten redirects are followed, and no more`() {
    let origin = redirecting("302 Found") { path in
      let step = Int(path.dropFirst()) ?? 0
      return step == 0 ? nil : "/\(step - 1)"
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    #expect(bench.run(origin.url("/10")).response?.body == Data("/0".utf8))
    #expect(bench.run(origin.url("/11")).error?.kind == .tooManyRedirects(limit: 10))
  }

  @Test func `a redirect loop is stopped`() {
    let origin = redirecting("302 Found") { $0 }
    defer { origin.stop() }
    let error = HTTPBench().run(origin.url()).error
    #expect(error?.kind == .tooManyRedirects(limit: 10))
    #expect(error?.cause == "")
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/feed", "gopher://127.0.0.1:70/1", "data:,feed", "http://"])
  func `a redirect to anything but HTTP is refused`(target: String) {
    let origin = redirecting("302 Found") { _ in target }
    defer { origin.stop() }
    let error = HTTPBench().run(origin.url()).error
    #expect(error?.kind == .redirectRefused, "\(String(describing: error))")
    #expect(error?.host == "127.0.0.1:\(origin.port)")
  }

  @Test func `credentials are not taken to another host`() throws {
    let seen = Mutex<RawOrigin.Request?>(nil)
    let other = RawOrigin.answering { request in
      seen.withLock { $0 = request }
      return RawOrigin.answer()
    }
    defer { other.stop() }
    let first = Mutex<RawOrigin.Request?>(nil)
    let target = "http://localhost:\(other.port)/feed"
    let origin = RawOrigin.answering { request in
      first.withLock { $0 = request }
      return RawOrigin.answer("302 Found", ["Location: \(target)"])
    }
    defer { origin.stop() }
    let url = URL(string: "http://user:secret@127.0.0.1:\(origin.port)/feed")!
    let bench = HTTPBench()
    #expect(bench.run(url).response?.status == 200)
    #expect(first.withLock { $0?["Authorization"] } != nil)
    #expect(try #require(seen.withLock { $0 })["Authorization"] == nil)

    let fields = [
      HTTPRequest.Header(name: "Authorization", value: "Bearer x"), HTTPRequest.Header(name: "Cookie", value: "id=1"),
    ]
    #expect(bench.run(HTTPRequest(origin.url(), headers: fields)).response?.status == 200)
    #expect(first.withLock { $0?["Cookie"] } == "id=1")
    let request = try #require(seen.withLock { $0 })
    #expect(request["Authorization"] == nil)
    #expect(request["Cookie"] == nil)
  }
}
