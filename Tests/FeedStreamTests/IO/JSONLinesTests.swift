import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct JSONLinesTests {
  private struct Event: Codable, Equatable { var n: Int }

  private func decode(_ chunks: [Chunk]) -> (values: [Event], error: (any Error)?) {
    var (values, failure): ([Event], (any Error)?) = ([], nil)
    let all = chunks.publisher.decodeJSONLines(Event.self)
      .sink {
        if case .failure(let error) = $0 { failure = error }
      } receiveValue: {
        values.append($0)
      }
    all.cancel()
    return (values, failure)
  }

  @Test func `values are the same wherever the bytes are cut, and blank lines are passed over`() {
    let bytes = Array("{\"n\":1}\r\n\n \t\r\n{\"n\":2}\n{\"n\":3}".utf8)
    for cut in bytes.indices {
      let (values, error) = decode([Chunk(bytes[..<cut]), Chunk(bytes[cut...])])
      #expect(values == [1, 2, 3].map(Event.init))
      #expect(error == nil)
    }
    #expect(decode(["{\"n\":1}\n"]).values == [Event(n: 1)])
    #expect(decode(["\n"]).values == [])
  }

  @Test func `a line that is no value is an error that says which line it is`() {
    let (values, error) = decode(["{\"n\":1}\n\n", "{\"n\":", "}\n{\"n\":4}"])
    #expect(values == [Event(n: 1)])
    #expect((error as? JSONLineError)?.line == 3)
    #expect((error as? JSONLineError)?.cause is DecodingError)
    let long = Chunk("\"" + String(repeating: "x", count: 1 << 20) + "\"\n")
    #expect(decode([long]).error as? ChunkError == .partTooLong(limit: 1 << 20))
  }

  @Test func `a chunk's data shows its memory when there is much of it`() {
    for count in [0, 1, 5_000] {
      let chunk = Chunk((0..<count).map { UInt8(truncatingIfNeeded: $0) })
      #expect(Chunk(chunk.data) == chunk)
    }
    let large = Chunk(repeatElement(7, count: 5_000))
    let places = (
      large.withUnsafeBytes { $0.baseAddress }, large.data.withUnsafeBytes { $0.baseAddress }
    )
    #expect(places.0 == places.1)
  }
}
