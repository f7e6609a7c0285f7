import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct BodyStreamTests {
  private func read(_ stream: BodyStream) -> [Chunk] {
    var chunks: [Chunk] = []
    while case .chunk(let chunk) = stream.next() { chunks.append(chunk) }
    return chunks
  }

  private func append(_ bytes: some Sequence<UInt8>, to stream: BodyStream) {
    Array(bytes).withUnsafeBytes { #expect(stream.append($0)) }
  }

  @Test(arguments: [1, 10_000, 16_384]) func `pieces that wait are joined, and their bytes keep their order`(size: Int)
  {
    let stream = BodyStream()
    stream.begin(limit: .max)
    let body = (0..<BodyStream.window).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    for start in stride(from: 0, to: body.count, by: size) { append(body[start...].prefix(size), to: stream) }
    #expect(stream.isFull && !stream.isDrained)
    let chunks = read(stream)
    #expect(chunks.count < 40 && Chunk(joining: chunks) == Chunk(body))
    #expect(stream.isDrained && !stream.isFull)
  }

  @Test func `a piece is delivered as it arrived if no other waits`() {
    let stream = BodyStream()
    stream.begin(limit: .max)
    for text in ["a", "b"] {
      append(text.utf8, to: stream)
      #expect(read(stream) == [Chunk(text)])
    }
    for text in ["c", "d", "e"] { append(text.utf8, to: stream) }
    #expect(read(stream) == ["c", "de"])
  }

  @Test func `compressed pieces that wait are decoded`() {
    let stream = BodyStream()
    stream.begin(limit: .max)
    stream.decode(with: ContentCoding.decoder(for: "gzip")!, coding: "gzip")
    let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
    for byte in Compression.gzip(body) { append([byte], to: stream) }
    #expect(Chunk(joining: read(stream)) == Chunk(body))
    #expect(stream.isDrained && stream.problemAtEnd == nil)
  }
}
