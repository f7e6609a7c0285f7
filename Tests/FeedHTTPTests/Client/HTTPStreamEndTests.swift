import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// Streamed responses whose last bytes arrive together with the end of the connection.
@Suite(.settled, .timeLimit(.minutes(5))) struct HTTPStreamEndTests {
  private let bench = HTTPBench()

  enum End: String, CaseIterable {
    case length, chunks, close
    /// Errors: the connection ends early, or libcurl finds the error in the same read as the last valid bytes.
    case cutLength, cutChunks, damagedChunk

    var isError: Bool { self == .cutLength || self == .cutChunks || self == .damagedChunk }

    func response(_ body: Data) -> Data {
      let chunk = Data("\(String(body.count, radix: 16))\r\n".utf8) + body + Data("\r\n".utf8)
      let (field, sent) =
        switch self {
        case .length: ("Content-Length: \(body.count)", body)
        case .cutLength: ("Content-Length: \(body.count + 1)", body)
        case .close: ("Connection: close", body)
        case .chunks: ("Transfer-Encoding: chunked", chunk + Data("0\r\n\r\n".utf8))
        case .cutChunks: ("Transfer-Encoding: chunked", chunk)
        case .damagedChunk: ("Transfer-Encoding: chunked", chunk + Data("what\r\n".utf8))
        }
      return Data("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8) + sent
    }
  }

  /// Sends a response and closes while the loop is blocked, so that the loop finds the bytes and the end together.
  private func origin(_ response: Data) -> RawOrigin {
    let loop = bench.loop
    return RawOrigin { connection in
      try connection.readRequest()
      let (held, sent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      loop.execute {
        held.signal()
        sent.wait()
      }
      held.wait()
      defer { sent.signal() }
      try connection.send(response)
      shutdown(connection.descriptor, Int32(SHUT_WR))
    }
  }

  // libcurl reads a short body at once, and a longer one in several reads.
  @Test(arguments: End.allCases, [5, 50_000])
  func `all bytes that arrived are delivered before the completion or the error`(end: End, size: Int) {
    let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let origin = origin(end.response(body))
    defer { origin.stop() }
    for isSlow in [false, true] {
      let probe = StreamProbe()
      if isSlow {
        probe.demand = .max(1)
        probe.asksLater = bench.loop
      }
      probe.begin(bench.client.open(HTTPRequest(origin.url())))
      bench.loop.run()
      #expect(probe.response?.status == 200, "\(isSlow)")
      #expect(probe.bytes == body, "\(isSlow)")
      #expect(end.isError ? probe.failure != nil : probe.completion == .finished, "\(isSlow)")
    }
  }

  @Test(arguments: End.allCases.filter(\.isError))
  func `after a connection error, a pending chunk waits for demand, and the error follows it`(end: End) {
    let origin = origin(end.response(Data("hello".utf8)))
    defer { origin.stop() }
    let probe = StreamProbe()
    probe.demand = .none
    probe.begin(bench.client.open(HTTPRequest(origin.url())))
    bench.loop.run()
    #expect(probe.response?.status == 200 && probe.chunks.isEmpty && probe.completion == nil)
    probe.demand = .max(1)
    probe.ask()
    #expect(probe.chunks == ["hello"] && probe.failure != nil)
  }

  @Test func `compressed bytes that arrived before an error are decoded on demand`() {
    // Compressed zeros: libcurl reads all bytes at once, and the reader requests the body in pieces.
    let body = Data(count: 1 << 20)
    let sent = Compression.gzip(body)
    let header = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(sent.count + 1)\r\n\r\n"
    let origin = origin(Data(header.utf8) + sent)
    defer { origin.stop() }
    let probe = StreamProbe()
    probe.demand = .max(1)
    probe.asksLater = bench.loop
    probe.begin(bench.client.open(HTTPRequest(origin.url())))
    bench.loop.run()
    #expect(probe.bytes == body && probe.failure?.kind == .truncated)
  }

  @Test func `cancelling after a connection error drops the pending bytes`() {
    let origin = origin(End.cutLength.response(Data("hello".utf8)))
    defer { origin.stop() }
    let probe = StreamProbe()
    probe.demand = .none
    probe.begin(bench.client.open(HTTPRequest(origin.url())))
    bench.loop.run()
    probe.cancel()
    bench.loop.run()
    #expect(probe.chunks.isEmpty && probe.completion == nil)
  }
}
