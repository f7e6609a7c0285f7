import FeedStream
import FeedStreamTesting
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

  @Test func `JSON values are the same however the bytes are split, and blank lines are skipped`() {
    let bytes = Array("{\"n\":1}\r\n\n \t\r\n{\"n\":2}\n{\"n\":3}".utf8)
    for cut in bytes.indices {
      let (values, error) = decode([Chunk(bytes[..<cut]), Chunk(bytes[cut...])])
      #expect(values == [1, 2, 3].map(Event.init))
      #expect(error == nil)
    }
    #expect(decode(["{\"n\":1}\n"]).values == [Event(n: 1)])
    #expect(decode(["\n"]).values == [])
  }

  @Test func `an invalid JSON line is an error with the line's number`() {
    let (values, error) = decode(["{\"n\":1}\n\n", "{\"n\":", "}\n{\"n\":4}"])
    #expect(values == [Event(n: 1)])
    #expect((error as? JSONLineError)?.line == 3)
    #expect((error as? JSONLineError)?.cause is DecodingError)
    let long = Chunk("\"" + String(repeating: "x", count: 1 << 20) + "\"\n")
    #expect(decode([long]).error as? ChunkError == .partTooLong(limit: 1 << 20))
  }

  @Test func `invalid and too long lines can be skipped, and are reported`() {
    let long = "\"" + String(repeating: "x", count: 40) + "\""
    let bytes = Array("{\"n\":1}\nnothing\n{\"n\":2}\n\(long)\n\n{\"n\":3}\n{\"n\":".utf8)
    for size in [1, 3, 20, 30, bytes.count] {
      let chunks = stride(from: 0, to: bytes.count, by: size).map { Chunk(bytes[$0..<min($0 + size, bytes.count)]) }
      var (values, reports): ([Event], [JSONLineError]) = ([], [])
      var isFinished = false
      let all = chunks.publisher.decodeJSONLines(Event.self, maxLength: 20, onInvalid: .skip { reports.append($0) })
        .sink {
          if case .finished = $0 { isFinished = true }
        } receiveValue: {
          values.append($0)
        }
      all.cancel()
      #expect(values == [1, 2, 3].map(Event.init) && isFinished)
      #expect(reports.map(\.line) == [2, 4, 7])
      #expect(reports.dropFirst().first?.cause as? ChunkError == .partTooLong(limit: 20))
    }
    // The bytes may end with a line that is too long.
    var reports = 0
    let end = ([Chunk(long), "x"] as [Chunk]).publisher
      .decodeJSONLines(Event.self, maxLength: 20, onInvalid: .skip { _ in reports += 1 }).record()
    #expect(end.failure == nil && end.completion != nil && reports == 1)
  }

  @Test func `a stream may be cancelled while an invalid line is reported`() {
    let subject = PassthroughSubject<Chunk, Never>()
    var (values, all): ([Event], AnyCancellable?) = ([], nil)
    all = subject.decodeJSONLines(Event.self, onInvalid: .skip { _ in all?.cancel() })
      .sink { _ in
      } receiveValue: {
        values.append($0)
      }
    subject.send("{\"n\":1}\nnothing\n{\"n\":2}\n")
    subject.send("{\"n\":3}\n")
    #expect(values == [Event(n: 1)])
  }

  @Test(arguments: [0, 1, 5_000, 70_000])
  func `a chunk's data has the chunk's bytes, and changing the data doesn't change the chunk`(_ count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let chunk = Chunk(bytes)
    var data = chunk.data
    #expect(Array(data) == bytes)
    for index in data.indices { data[index] ^= 1 }
    #expect(chunk.elementsEqual(bytes))
  }
}
