import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct HTTPCompressionTests {
  enum Coding: String, CaseIterable, Sendable {
    case gzip, deflate, bareDeflate, br, zstd

    var name: String { self == .bareDeflate ? "deflate" : rawValue }

    func encode(_ data: Data) -> Data {
      switch self {
      case .gzip: Compression.gzip(data)
      case .deflate: Compression.zlib(data)
      case .bareDeflate: Compression.bareDeflate(data)
      case .br: Compression.brotli(data)
      case .zstd: Compression.zstd(data)
      }
    }
  }

  // A text that compresses to about half, so that no decoder completes before nearly all bytes have arrived.
  private static let text: Data = {
    let letters = Array("0123456789abcdef".utf8)
    var state: UInt32 = 1
    return Data(
      (0..<40_000).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return letters[Int(state >> 28)]
      })
  }()
  private var text: Data { Self.text }

  private func answering(_ coding: String, _ body: Data) -> RawOrigin {
    .answering { _ in RawOrigin.answer("200 OK", ["Content-Encoding: \(coding)"], body) }
  }

  @Test(arguments: Coding.allCases) func `every content coding is decoded`(coding: Coding) {
    let origin = answering(coding.name, coding.encode(text))
    defer { origin.stop() }
    let probe = HTTPBench().run(origin.url())
    #expect(probe.response?.body == text)
    #expect(probe.error == nil)
  }

  @Test(arguments: [false, true])
  func `a part of a body is requested without compression, and a part of a compressed body arrives as it is`(
    isStreamed: Bool
  ) {
    let part = Compression.gzip(text).prefix(100)
    let origin = RawOrigin.answering { request in
      guard request["Accept-Encoding"] == "identity" else { return RawOrigin.answer("400 Bad Request") }
      return RawOrigin.answer(
        "206 Partial Content", ["Content-Encoding: gzip", "Content-Range: bytes 0-99/9999"], part)
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    let request = HTTPRequest(origin.url(), headers: [.init(name: "Range", value: "bytes=0-99")])
    if isStreamed {
      let probe = StreamProbe(bench.client.open(request))
      bench.loop.run()
      #expect(probe.response?.status == 206 && probe.bytes == part)
    } else {
      let probe = bench.run(request)
      #expect(probe.response?.status == 206 && probe.response?.body == part)
    }
  }

  @Test func `too many empty gzip members are refused quickly`() {
    let empty = Compression.gzip(Data())
    func run(_ body: Data) -> HTTPProbe {
      let origin = answering("gzip", body)
      defer { origin.stop() }
      return HTTPBench().run(origin.url())
    }
    func members(_ count: Int) -> Data { Data((0..<count).flatMap { _ in empty }) }
    let full = Compression.gzip(text)
    #expect(run(members(50) + full + members(50) + full).response?.body == text + text)
    #expect(run(full + members(1_000)).error?.kind == .encoding)
  }

  @Test(arguments: Coding.allCases) func `compressed bytes that arrive one by one are decoded`(coding: Coding) {
    let body = coding.encode(text.prefix(300))
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\ncontent-encoding:\(coding.name)\r\nTransfer-Encoding: chunked\r\n\r\n")
      for byte in body { try connection.send(Data("1\r\n".utf8) + [byte] + Data("\r\n".utf8)) }
      try connection.send("0\r\n\r\n")
    }
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).response?.body == text.prefix(300))
  }

  /// The HTTP message is complete, but the compressed data isn't: libcurl itself would accept it as complete.
  @Test(arguments: Coding.allCases, [1, 4, 1_000]) func `a truncated compressed body is an error`(
    coding: Coding, cut: Int
  ) {
    let whole = coding.encode(text)
    // Raw deflate has no checksum, so its last bytes may be padding.
    guard coding != .bareDeflate || cut > 1 else { return }
    let origin = answering(coding.name, whole.dropLast(cut))
    defer { origin.stop() }
    let error = HTTPBench().run(origin.url()).error
    #expect(error?.kind == .truncated)
  }

  /// Tests only the codings with a checksum.
  @Test(arguments: [Coding.gzip, .deflate]) func `a damaged compressed body is an error`(coding: Coding) {
    var body = coding.encode(text)
    for index in stride(from: body.count / 3, to: body.count / 3 + 40, by: 1) { body[index] = ~body[index] }
    let origin = answering(coding.name, body)
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).error?.kind == .encoding)
  }

  @Test func `a body in another coding than announced is an error`() {
    for coding in ["gzip", "br", "zstd"] {
      let origin = answering(coding, Data("{\"items\": []}".utf8))
      defer { origin.stop() }
      #expect(HTTPBench().run(origin.url()).error?.kind == .encoding)
    }
  }

  @Test(arguments: ["compress", "gzip, br", "x-unknown"]) func `a content coding that wasn't offered is refused`(
    coding: String
  ) {
    let origin = answering(coding, Data("body".utf8))
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).error?.kind == .encoding)
  }

  @Test(arguments: ["Content-Encoding : gzip", "Content-Encoding:\r\n gzip", "Content-Encoding: identity , GZIP"])
  func `a content coding is recognized, however its field is spelled`(field: String) {
    let origin = RawOrigin.answering { [body = Compression.gzip(text)] _ in RawOrigin.answer("200 OK", [field], body) }
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).response?.body == text)
  }

  @Test func `an identity coding and an empty body are delivered unchanged`() {
    for (coding, body) in [("identity", Data("plain".utf8)), ("gzip", Data())] {
      let origin = answering(coding, body)
      defer { origin.stop() }
      #expect(HTTPBench().run(origin.url()).response?.body == body)
    }
  }

  @Test func `a gzip body of several members is decoded`() {
    let origin = answering("gzip", Compression.gzip(Data("one".utf8)) + Compression.gzip(Data("two".utf8)))
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).response?.body == Data("onetwo".utf8))
  }

  /// 64 MiB that arrive as a few kilobytes.
  @Test(arguments: [Coding.gzip, .deflate, .br, .zstd]) func `decoding a compression bomb stops at the limit`(
    coding: Coding
  ) {
    let body = coding.encode(Data(count: 64 << 20))
    #expect(body.count < 100_000)
    let origin = answering(coding.name, body)
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).error?.kind == .tooLarge(limit: 32 << 20))
  }

  @Test(arguments: Coding.allCases) func `the body limit counts decoded bytes`(coding: Coding) {
    let origin = answering(coding.name, coding.encode(text))
    defer { origin.stop() }
    let bench = HTTPBench()
    #expect(bench.run(HTTPRequest(origin.url(), maxBodyBytes: text.count)).response?.body == text)
    let error = bench.run(HTTPRequest(origin.url(), maxBodyBytes: text.count - 1)).error
    #expect(error?.kind == .tooLarge(limit: text.count - 1))
  }

  @Test func `a folded Content-Encoding is decoded, and a folded Content-Length is refused`() {
    let body = Compression.gzip(text)
    func run(_ fields: String) -> HTTPProbe {
      let origin = RawOrigin.sending(Data("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8) + body)
      defer { origin.stop() }
      return HTTPBench().run(origin.url())
    }
    let length = "Content-Length: \(body.count)"
    #expect(run("Content-Encoding:\r\n gzip\r\n\(length)").response?.body == text)
    #expect(run("Content-Encoding: identity,\r\n\tgzip\r\nX: a\r\n b\r\n\(length)").response?.body == text)
    #expect(run("Content-Encoding: gzip,\r\n gzip\r\n\(length)").error?.kind == .encoding)
    for fields in ["Content-Length: 1\r\n 2", "Transfer-Encoding: gzip,\r\n chunked"] {
      #expect(run(fields).error?.kind == .notHTTP)
    }
  }
}
