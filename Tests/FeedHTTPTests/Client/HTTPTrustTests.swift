import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(
  .settled, .serialized,
  .enabled(if: SecureOrigin.isAvailable, "the openssl command makes the certificates and the server"))
struct HTTPTrustTests {
  @Test(.timeLimit(.minutes(5))) func `a self-signed certificate is refused`() throws {
    let origin = try SecureOrigin(host: "localhost")
    defer { origin.stop() }
    let error = try #require(HTTPBench().run(origin.url).error)
    #expect(error.kind == .tls)
    #expect(
      error.description.hasPrefix(
        "could not set up a secure connection to localhost:\(origin.port): SSL certificate problem: self"))
  }

  @Test(.timeLimit(.minutes(5))) func `a certificate of a trusted authority is accepted`() throws {
    let origin = try SecureOrigin(host: "localhost")
    defer { origin.stop() }
    let bench = HTTPBench { $0.certificateAuthorities = origin.certificate }
    let probe = bench.run(origin.url)
    #expect(probe.response?.status == 200)
    #expect(probe.error == nil)
  }

  @Test(.timeLimit(.minutes(5))) func `a certificate for another host is refused`() throws {
    let origin = try SecureOrigin(host: "feeds.example")
    defer { origin.stop() }
    let error = HTTPBench { $0.certificateAuthorities = origin.certificate }.run(origin.url).error
    #expect(error?.kind == .tls)
    #expect(error?.cause.contains("does not match") == true || error?.cause.contains("no alternative") == true)
  }

  @Test(.timeLimit(.minutes(5))) func `an expired certificate is refused`() throws {
    let origin = try SecureOrigin(host: "localhost", isExpired: true)
    defer { origin.stop() }
    let error = HTTPBench { $0.certificateAuthorities = origin.certificate }.run(origin.url).error
    #expect(error?.kind == .tls)
    #expect(error?.cause.contains("expired") == true)
  }

  @Test(.timeLimit(.minutes(5))) func `a certificate whose common name is its only name is refused`() throws {
    let origin = try SecureOrigin(host: "localhost", hasNames: false)
    defer { origin.stop() }
    let error = HTTPBench { $0.certificateAuthorities = origin.certificate }.run(origin.url).error
    #expect(error?.kind == .tls)
    #expect(error?.cause.contains("mismatch") == true)
  }

  @Test(.timeLimit(.minutes(5)), arguments: ["", "body"])
  func `a TLS body delimited by the connection's end requires close_notify`(body: String) throws {
    let origin = try SecureOrigin(host: "localhost", response: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(body)")
    defer { origin.stop() }
    let whole = HTTPBench { $0.certificateAuthorities = origin.certificate }.run(origin.url.appending(path: "answer"))
    #expect(whole.response?.body == Data(body.utf8) && whole.error == nil)

    let relay = RawOrigin.cuttingTLS(to: origin.port)
    defer { relay.stop() }
    let url = try #require(URL(string: "https://localhost:\(relay.port)/answer"))
    let cut = HTTPBench { $0.certificateAuthorities = origin.certificate }.run(url)
    #expect(cut.response == nil && cut.error?.kind == .truncated)
    #expect(cut.error?.cause == "the TLS connection was closed without a close_notify alert")
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: ["Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"])
  func `a TLS body of known length doesn't require close_notify`(rest: String) throws {
    let origin = try SecureOrigin(host: "localhost", response: "HTTP/1.1 200 OK\r\nConnection: close\r\n\(rest)")
    defer { origin.stop() }
    let relay = RawOrigin.cuttingTLS(to: origin.port)
    defer { relay.stop() }
    let url = try #require(URL(string: "https://localhost:\(relay.port)/answer"))
    let probe = HTTPBench { $0.certificateAuthorities = origin.certificate }.run(url)
    #expect(probe.response?.body == Data("body".utf8) && probe.error == nil)
  }

  @Test func `a server that doesn't speak TLS is refused`() {
    let origin = RawOrigin { connection in
      try connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
    }
    defer { origin.stop() }
    let error = HTTPBench().run(URL(string: "https://127.0.0.1:\(origin.port)/")!).error
    #expect(error?.kind == .tls)
  }

  @Test(.timeLimit(.minutes(5))) func `an unanswered TLS handshake times out`() {
    let origin = RawOrigin { connection in connection.waitForClose() }
    defer { origin.stop() }
    let url = URL(string: "https://127.0.0.1:\(origin.port)/")!
    for isTotal in [true, false] {
      var kind: HTTPError.Kind?
      withGrowingTimeout(from: .milliseconds(300)) { timeout in
        let request = isTotal ? HTTPRequest(url, timeout: timeout) : HTTPRequest(url, connectTimeout: timeout)
        kind = HTTPBench().run(request).error?.kind
        return kind == .timedOut(.tls)
      }
      #expect(kind == .timedOut(.tls), "\(isTotal)")
    }
  }
}
