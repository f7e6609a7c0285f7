import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// Origins that misbehave, each with the expected error. None may hang: the loop runs until it is idle.
@Suite(.settled) struct HostileOriginTests {
  private func error(_ origin: RawOrigin, maxBodyBytes: Int = 1 << 20) -> HTTPError? {
    defer { origin.stop() }
    return HTTPBench().run(HTTPRequest(origin.url(), timeout: .seconds(20), maxBodyBytes: maxBodyBytes)).error
  }

  @Test func `a body shorter than announced is reported as truncated`() {
    #expect(error(.sending("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":"))?.kind == .truncated)
  }

  @Test func `a body with two different lengths is refused, and one with a repeated length is read`() {
    let fields = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: "
    let refused = error(.sending("\(fields)6\r\n\r\nhello!"))
    #expect(refused?.kind == .notHTTP && refused?.cause == "two different Content-Length values")
    #expect(error(.sending("\(fields)5\r\n\r\nhello")) == nil)
  }

  @Test func `a chunked body that stops is reported as truncated`() {
    #expect(error(.sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ite"))?.kind == .truncated)
    #expect(error(.sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ite\r\n"))?.kind == .truncated)
  }

  @Test func `a response header that stops is an error`() {
    #expect(error(.sending("HTTP/1.1 200 OK\r\nContent-Le"))?.kind == .truncated)
    #expect(error(.sending("HTTP/1.1 200 OK\r\nServer: x\r\n"))?.kind == .truncated)
  }

  @Test func `a connection closed without a response is an error`() {
    #expect(error(.sending(""))?.kind == .receive)
    #expect(error(RawOrigin { _ in })?.kind != nil)
  }

  @Test func `a connection reset in the body is an error`() {
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
      connection.reset()
    }
    let kind = error(origin)?.kind
    #expect(kind == .receive || kind == .truncated, "\(String(describing: kind))")
  }

  @Test func `a port without a listener is reported as such`() throws {
    let port = try ReservedPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
    let error = try #require(HTTPBench().run(url).error)
    #expect(error.kind == .connect)
    #expect(
      error.description
        == "could not connect to 127.0.0.1:\(port.number): connection refused; check that the server is running and the port is right"
    )
  }

  @Test func `an unknown host is reported as such`() throws {
    let error = try #require(HTTPBench().run(URL(string: "http://no-such-host.invalid/feed")!).error)
    #expect(error.kind == .nameResolution)
    #expect(error.host == "no-such-host.invalid")
    #expect(
      error.description == "could not find the host no-such-host.invalid; check the URL and the network connection")
  }

  @Test func `a response that isn't HTTP is reported as such`() {
    #expect(error(.sending("SSH-2.0-OpenSSH_9.2\r\n"))?.kind == .notHTTP)
    #expect(error(.sending("220 mail.example ESMTP\r\n"))?.kind == .notHTTP)
    #expect(error(.sending(Data((0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 37) })))?.kind == .notHTTP)
    #expect(error(.sending("HTTP/1.1 2x0 OK\r\n\r\n"))?.kind == .notHTTP)
  }

  @Test func `a response with two lengths is refused`() {
    #expect(error(.sending("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello")) != nil)
  }

  @Test func `an endless body fails at the limit`() {
    let endless = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while true { try connection.send(Data(count: 65_536)) }
    }
    #expect(error(endless)?.kind == .tooLarge(limit: 1 << 20))
  }

  @Test func `a body announced over the limit isn't received`() {
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{")
      connection.waitForClose()
    }
    #expect(error(origin)?.kind == .tooLarge(limit: 1 << 20))
  }

  @Test func `endless headers are refused`() {
    let inNumber = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\n")
      while true { try connection.send("X: y\r\n") }
    }
    #expect(error(inNumber)?.kind == .headersTooLarge)
    let inSize = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nX: ")
      while true { try connection.send(String(repeating: "y", count: 10_000)) }
    }
    let tooLong = error(inSize)
    #expect(tooLong?.kind == .headersTooLarge)
    #expect(tooLong?.cause.contains("memory") == false)
    let trailers = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
      while true { try connection.send("X: y\r\n") }
    }
    #expect(error(trailers)?.kind == .headersTooLarge)
    let informational = RawOrigin { connection in
      try connection.readRequest()
      while true { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
    }
    #expect(error(informational)?.kind == .headersTooLarge)
  }
}

// MARK: - Slow

extension HostileOriginTests {
  /// An origin that endlessly sends one byte every few milliseconds; the deadline must end the request at any point.
  private func trickling(_ head: String, _ rest: String) -> RawOrigin {
    RawOrigin { connection in
      try connection.readRequest()
      try connection.send(head)
      while true {
        for byte in rest.utf8 {
          try connection.send(Data([byte]))
          usleep(5_000)
        }
      }
    }
  }

  /// The error of a request whose timeout of `limit` seconds ends in one of `phases`, after `seconds`.
  private func timed(
    _ origin: RawOrigin, in phases: HTTPError.Phase...
  ) -> (HTTPError?, seconds: Double, limit: Double) {
    defer { origin.stop() }
    var result: (HTTPError?, seconds: Double, limit: Double) = (nil, 0, 0)
    withGrowingTimeout(from: .milliseconds(300)) { timeout in
      let start = DispatchTime.now().uptimeNanoseconds
      let error = HTTPBench().run(HTTPRequest(origin.url(), timeout: timeout, maxBodyBytes: 1 << 20)).error
      let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
      result = (error, seconds, Double(timeout.nanoseconds) / 1e9)
      return phases.contains { error?.kind == .timedOut($0) }
    }
    return result
  }

  @Test(.timeLimit(.minutes(5))) func `a header that arrives too slowly times out`() {
    let (error, seconds, limit) = timed(trickling("", "HTTP/1.1 200 OK\r\nX-A: b"), in: .response, .receive)
    #expect(error?.kind == .timedOut(.response) || error?.kind == .timedOut(.receive))
    #expect(seconds >= limit && seconds < limit + 10)
  }

  @Test(.timeLimit(.minutes(5))) func `a body that arrives too slowly times out`() {
    let origin = trickling("HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", "x")
    let (error, seconds, limit) = timed(origin, in: .receive)
    #expect(error?.kind == .timedOut(.receive))
    #expect(seconds >= limit && seconds < limit + 10)
  }

  @Test(.timeLimit(.minutes(5))) func `endless informational responses time out`() {
    let error = timed(trickling("", "HTTP/1.1 103 Early Hints\r\n\r\n"), in: .response, .receive).0
    #expect(error?.kind == .timedOut(.response) || error?.kind == .timedOut(.receive))
  }

  @Test(.timeLimit(.minutes(5))) func `a silent server times out`() {
    let silent = RawOrigin { connection in
      try connection.readRequest()
      connection.waitForClose()
    }
    let error = timed(silent, in: .response).0
    #expect(error?.kind == .timedOut(.response))
    #expect(error?.description.contains("took too long to respond: the limit is ") == true)
  }

  /// A socket whose connection queue is full drops arriving packets, so the connection is never made.
  @Test(.timeLimit(.minutes(5))) func `a connection whose packets are dropped meets both timeouts`() throws {
    let hole = BlackHole()
    defer { hole.close() }
    let bench = HTTPBench()
    let total = bench.run(HTTPRequest(hole.url, timeout: .milliseconds(300)))
    #expect(total.error?.kind == .timedOut(.connect))
    let connect = bench.run(HTTPRequest(hole.url, connectTimeout: .milliseconds(200)))
    #expect(connect.error?.kind == .timedOut(.connect))
  }
}
