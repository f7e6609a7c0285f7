import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedHTTPServer

/// The processing of responses: conditions, ranges, and codings.
@Suite(.settled) struct AnswerTests {
  /// Requests a document with these fields, and returns the status, some fields and the body.
  private func ask(
    _ fields: String, method: String = "GET", _ headers: HTTPHeaders = [:], body: Chunk = "0123456789"
  ) -> (status: Int, headers: [String: String], body: [UInt8]) {
    let bench = Bench().serve { _ in .init(headers: headers, body: body) }
    let answer = bench.send("\(method) / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n").receiveBytes()
    bench.end()
    let end = answer.firstRange(of: Array("\r\n\r\n".utf8))!
    let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    var found: [String: String] = [:]
    for line in lines.dropFirst() {
      let pair = line.split(separator: ":", maxSplits: 1)
      found[pair[0].lowercased()] = String(pair[1].dropFirst())
    }
    return (Int(lines[0].dropFirst(9).prefix(3))!, found, Array(answer[end.upperBound...]))
  }

  @Test func `the server's header fields are added to every response, even refusals`() {
    let bench = Bench().serve { request in
      request.path == "/own" ? .init(headers: ["x-frame-options": "SAMEORIGIN"], body: "") : .init(.notFound)
    }
    bench.server.headers = ["X-Frame-Options": "DENY"]
    for request in ["GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "nonsense\r\n\r\n"] {
      #expect(bench.send(request).receive().contains("\r\nX-Frame-Options: DENY\r\n"), "\(request)")
    }
    let own = bench.send("GET /own HTTP/1.1\r\nHost: h\r\n\r\n").receive()
    #expect(own.contains("\r\nx-frame-options: SAMEORIGIN\r\n") && !own.contains("DENY"))
    bench.end()
  }

  private let versioned: HTTPHeaders = [
    "ETag": "\"v1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Content-Type": "text/plain",
  ]

  @Test(arguments: [
    ("If-None-Match: \"v1\"\r\n", 304), ("If-None-Match: W/\"v1\"\r\n", 304), ("If-None-Match: *\r\n", 304),
    ("If-None-Match: \"v0\", \"v1\"\r\n", 304), ("If-None-Match: \"v0\"\r\nIf-None-Match: \"v1\"\r\n", 304),
    ("If-None-Match: \"v2\"\r\n", 200), ("If-None-Match: v1\r\n", 200), ("If-None-Match: \"\"\r\n", 200),
    ("If-None-Match: \"v2\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200),
    ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 304),
    ("If-Modified-Since: Sunday, 06-Nov-94 08:49:38 GMT\r\n", 304),
    ("If-Modified-Since: Sun Nov  6 08:49:37 1994\r\n", 304),
    ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 200), ("If-Modified-Since: yesterday\r\n", 200),
    ("If-Match: \"v1\"\r\n", 200), ("If-Match: *\r\n", 200), ("If-Match: W/\"v1\"\r\n", 412),
    ("If-Match: \"v2\"\r\n", 412),
    ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 412),
    ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200),
    ("If-Match: \"v1\"\r\nIf-None-Match: \"v1\"\r\n", 304), ("If-Match: \"v2\"\r\nIf-None-Match: \"v1\"\r\n", 412),
  ])
  func `preconditions are evaluated in the order of RFC 9110`(_ fields: String, _ status: Int) {
    let answer = ask(fields, versioned)
    #expect(answer.status == status)
    #expect(answer.body.isEmpty == (status != 200))
    if status == 304 {
      #expect(answer.headers["etag"] == "\"v1\"")
      #expect(answer.headers["content-length"] == nil && answer.headers["content-type"] == nil)
    }
    #expect(ask(fields, method: "HEAD", versioned).status == status)
  }

  @Test func `preconditions apply neither to POST nor to a response without a version`() {
    #expect(ask("If-None-Match: \"v1\"\r\n", method: "POST", versioned).status == 200)
    #expect(ask("If-None-Match: *\r\n").status == 200)
  }

  @Test(arguments: [
    ("bytes=0-3", "0123", "bytes 0-3/10"), ("bytes=4-", "456789", "bytes 4-9/10"), ("bytes=-3", "789", "bytes 7-9/10"),
    ("bytes=-30", "0123456789", "bytes 0-9/10"), ("bytes=9-100", "9", "bytes 9-9/10"),
    ("bytes=8-99999999999999999999", "89", "bytes 8-9/10"), ("bytes=8-9223372036854775807", "89", "bytes 8-9/10"),
    ("bytes=-99999999999999999999", "0123456789", "bytes 0-9/10"), ("bytes=00-01", "01", "bytes 0-1/10"),
    ("Bytes= 1 - 2", "12", "bytes 1-2/10"),
  ])
  func `a byte range is served as 206`(_ range: String, _ body: String, _ content: String) {
    let answer = ask("Range: \(range)\r\n")
    #expect(answer.status == 206)
    #expect(String(decoding: answer.body, as: UTF8.self) == body)
    #expect(answer.headers["content-range"] == content)
    #expect(answer.headers["content-length"] == "\(body.count)")
  }

  @Test(arguments: [
    "bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-",
    "bytes=9223372036854775807-9223372036854775807",
  ])
  func `a range beyond the end is refused with 416`(_ range: String) {
    let answer = ask("Range: \(range)\r\n")
    #expect(answer.status == 416)
    #expect(answer.headers["content-range"] == "bytes */10")
    #expect(answer.body.isEmpty)
  }

  @Test(arguments: [
    "bytes=3-1", "bytes=-", "bytes=a-b", "lines=0-1", "bytes=0-1,3-4", "bytes", "bytes=", "bytes=1-2-3", "bytes=+1-2",
    "bytes=1 2-3", "bytes=--1", "bytes=0-" + String(repeating: "9", count: 300),
  ])
  func `a request with several or invalid ranges gets the whole body`(_ range: String) {
    #expect(ask("Range: \(range)\r\n").status == 200)
  }

  @Test func `a range is served only for GET, and only if If-Range matches`() {
    #expect(ask("Range: bytes=0-1\r\n", method: "POST").status == 200)
    #expect(ask("Range: bytes=0-1\r\n", method: "HEAD").status == 200)
    func status(if condition: String) -> Int { ask("Range: bytes=0-1\r\nIf-Range: \(condition)\r\n", versioned).status }
    #expect(status(if: "\"v1\"") == 206)
    #expect(status(if: "\"v2\"") == 200)
    #expect(status(if: "W/\"v1\"") == 200)
    #expect(status(if: "Sun, 06 Nov 1994 08:49:37 GMT") == 206)
    #expect(status(if: "Sun, 06 Nov 1994 08:49:38 GMT") == 200)
  }

  private let text = Chunk(String(repeating: "All work and no play. ", count: 100))

  @Test(arguments: [
    ("gzip", true), ("br, gzip;q=0.5", true), ("GZIP", true), ("*", true), ("x-gzip", true), ("gzip;q=0", false),
    ("gzip; q=0.000", false), ("*;q=0", false), ("identity", false), ("", false), ("gzip;q=0, *", false),
    ("deflate", false), ("gzip;q=0.001", true), ("gzip;q=0.5, identity;q=0.2", true), ("gzip;q=0.5, identity", false),
    ("*;q=0.1, identity;q=0.5", false), ("gzip;q=banana", true), ("identity;q=0", false),
  ])
  func `text is compressed when Accept-Encoding allows gzip`(_ accepted: String, _ isCompressed: Bool) throws {
    let answer = ask("Accept-Encoding: \(accepted)\r\n", versioned, body: text)
    #expect(answer.headers["content-encoding"] == (isCompressed ? "gzip" : nil))
    #expect(answer.headers["vary"] == "Accept-Encoding")
    #expect(answer.headers["etag"] == (isCompressed ? "W/\"v1\"" : "\"v1\""))
    #expect(answer.headers["content-length"] == "\(answer.body.count)")
    #expect(try (isCompressed ? gunzip(answer.body) : answer.body) == Array(text))
  }

  @Test func `version header fields are the same with 200 and 304`() {
    let wanted = "Accept-Encoding: gzip\r\nIf-None-Match: W/\"v1\"\r\n"
    let known = ask(wanted, versioned, body: text)
    #expect(known.status == 304)
    #expect(known.headers["vary"] == "Accept-Encoding" && known.headers["etag"] == "W/\"v1\"")
    #expect(known.headers["content-encoding"] == nil)
    #expect(ask("If-None-Match: \"v1\"\r\n", versioned, body: text).headers["etag"] == "\"v1\"")
    let part = ask("Accept-Encoding: gzip\r\nRange: bytes=0-1\r\n", versioned, body: text)
    #expect(part.status == 206)
    #expect(part.headers["vary"] == "Accept-Encoding" && part.headers["etag"] == "\"v1\"")
  }

  @Test(arguments: [
    ("Origin", "Origin, Accept-Encoding"), ("accept-encoding", "accept-encoding"), ("*", "*"),
    ("A, Accept-Encoding", "A, Accept-Encoding"),
  ])
  func `Vary names each header field once`(_ given: String, _ sent: String) {
    #expect(ask("", ["Content-Type": "text/plain", "Vary": given], body: text).headers["vary"] == sent)
  }

  @Test func `short bodies, compressed bodies, images and ranges aren't compressed`() {
    let gzip = "Accept-Encoding: gzip\r\n"
    func coding(_ fields: String, _ headers: HTTPHeaders, _ body: Chunk) -> String? {
      ask(fields, headers, body: body).headers["content-encoding"]
    }
    #expect(coding(gzip, ["Content-Type": "text/plain"], "short") == nil)
    #expect(coding(gzip, ["Content-Type": "image/png"], text) == nil)
    #expect(coding(gzip, [:], text) == nil)
    #expect(coding(gzip, ["Content-Type": "text/plain", "Content-Encoding": "br"], text) == "br")
    #expect(coding(gzip + "Range: bytes=0-1\r\n", ["Content-Type": "text/plain"], text) == nil)
    #expect(coding(gzip, ["Content-Type": "application/feed+json; charset=utf-8"], text) == "gzip")
  }

  @Test func `a stream is compressed so that each chunk can be decoded when it arrives`() throws {
    let subject = PassthroughSubject<Chunk, Never>()
    let bench = Bench().serve { _ in .init(headers: ["Content-Type": "text/plain"], body: subject) }
    let client = bench.send("GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n")
    subject.send("hello ")
    bench.settle()
    var bytes = unchunked(client.receiveBytes())
    #expect(try gunzip(bytes, isPart: true) == Array("hello ".utf8))
    subject.send("world")
    subject.send(completion: .finished)
    bench.settle()
    bytes += unchunked(client.receiveBytes())
    #expect(try gunzip(bytes) == Array("hello world".utf8))
    bench.end()
  }

  @Test func `a long body is compressed while it is sent`() throws {
    let long = Chunk((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) })
    let bench = Bench().serve { _ in .init(headers: ["Content-Type": "text/plain"], body: long) }
    let client = bench.send("GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n")
    #expect(try gunzip(unchunked(client.receiveBytes())) == Array(long))
    bench.end()
  }

  @Test func `every HTTP date format parses to the date that was written`() {
    for seconds in [0, 784_111_777, 951_782_400, 4_107_542_400, -1, 253_402_300_799] as [Int64] {
      #expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds)
    }
    #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
    // The same rule as in the client: a two-digit year is at most fifty years ahead.
    #expect(HTTPDate.seconds("Sunday, 06-Nov-94 08:49:37 GMT", now: 1_795_000_000) == 784_111_777)
    #expect(HTTPDate.seconds("Saturday, 01-Jan-72 00:00:00 GMT", now: 1_795_000_000) == 3_218_832_000)
    #expect(HTTPDate.text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    for text in [
      "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 6x Nov 1994 08:49:37 GMT",
      "a b c d e f", "Thu, 30 Feb 2023 00:00:00 GMT", "Sun, 31 Jun 2024 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
    ] {
      #expect(HTTPDate.seconds(text) == nil)
    }
  }
}
