import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedStream

@Suite(.settled) struct FramedTests {
  /// The results of a stream for `bytes`, whole, split at every position, and byte by byte, which must be the same.
  private func results<P: Publisher>(
    of bytes: [UInt8], _ operators: (AnyPublisher<Chunk, Never>) -> P
  ) -> Set<[P.Output]> where P.Output: Hashable {
    let cuts =
      [[Chunk(bytes)], bytes.map { Chunk([$0]) }] + bytes.indices.map { [Chunk(bytes[..<$0]), Chunk(bytes[$0...])] }
    return Set(
      cuts.map { chunks in
        var values: [P.Output] = []
        let all = operators(chunks.publisher.eraseToAnyPublisher())
          .sink { _ in
          } receiveValue: {
            values.append($0)
          }
        all.cancel()
        return values
      })
  }

  @Test func `lines are the same however the bytes are split`() {
    let text = "one\r\n\ntwo ü 🙂\nlast"
    #expect(results(of: Array(text.utf8)) { $0.lines() } == [["one", "", "two ü 🙂", "last"]])
    #expect(results(of: Array("a\nb\n".utf8)) { $0.lines() } == [["a", "b"]])
    #expect(results(of: []) { $0.lines() } == [[]])
  }

  @Test func `separated parts are the same however the bytes are split`() {
    #expect(results(of: Array(",a,,bc".utf8)) { $0.split(by: UInt8(ascii: ",")) } == [["", "a", "", "bc"]])
  }

  @Test func `text is the same however the bytes are split, even if it isn't valid UTF-8`() {
    for bytes: [UInt8] in [
      Array("aü€🙂".utf8), [0x61, 0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x99], [0xED, 0xA0, 0x80], [0xC0, 0x80, 0x62],
      [0xF5, 0x80, 0x80, 0x80], [0xE0, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80, 0xBF, 0xFF],
    ] {
      let texts = Set(results(of: bytes) { $0.utf8Text() }.map { $0.joined() })
      #expect(texts == [String(decoding: bytes, as: UTF8.self)], "\(bytes)")
    }
  }

  @Test func `chunks of a fixed size are the same however the bytes are split`() {
    #expect(results(of: Array("abcde".utf8)) { $0.chunked(into: 2) } == [["ab", "cd", "e"]])
    #expect(results(of: Array("abcd".utf8)) { $0.chunked(into: 2) } == [["ab", "cd"]])
  }

  @Test func `all bytes are joined into one chunk, even when there are none`() {
    #expect(results(of: Array("abc".utf8)) { $0.joined(upTo: 3) } == [["abc"]])
    #expect(results(of: []) { $0.joined(upTo: 3) } == [[""]])
  }

  @Test func `the first bytes are delivered, and no more`() {
    for (count, expected) in [(0, ""), (2, "ab"), (3, "abc"), (9, "abc")] {
      let texts = results(of: Array("abc".utf8)) { $0.prefix(bytes: count) }.map { Chunk(joining: $0) }
      #expect(Set(texts) == [Chunk(expected)])
    }
  }

  @Test func `no bytes are requested, and no chunk is delivered, for a prefix of 0 bytes`() {
    var requests = 0
    let chunks = [Chunk("ab")].publisher.handleEvents(receiveRequest: { _ in requests += 1 })
    let recorder = chunks.prefix(bytes: 0).record()
    #expect(recorder.values.isEmpty)
    #expect(recorder.completion == .finished)
    #expect(requests == 0)
  }

  @Test func `a line or a text over the limit is an error`() {
    var errors: [ChunkError?] = []
    let lines = ["ab", "cd\n"].map { Chunk($0) }.publisher.lines(maxLength: 3)
      .sink {
        errors.append($0.error)
      } receiveValue: { _ in
      }
    let joined = ["ab", "cd"].map { Chunk($0) }.publisher.joined(upTo: 3)
      .sink {
        errors.append($0.error)
      } receiveValue: { _ in
      }
    #expect(errors == [.partTooLong(limit: 3), .tooMany(limit: 3)])
    for subscription in [lines, joined] { subscription.cancel() }
  }

  @Test func `a chunk is requested only when no held bytes form the requested line`() {
    let chunks = PassthroughSubject<Chunk, Never>()
    var asked = 0
    var lines: [String] = []
    var subscription: (any Subscription)?
    chunks.handleEvents(receiveRequest: { asked += $0.max ?? 0 }).lines().subscribe(
      AnySubscriber(
        receiveSubscription: { subscription = $0 },
        receiveValue: {
          lines.append($0)
          return .none
        }))
    #expect(asked == 0)
    subscription?.request(.max(1))
    #expect(asked == 1)
    chunks.send("a\nb\nc")
    subscription?.request(.max(1))
    #expect(asked == 1)
    #expect(lines == ["a", "b"])
    subscription?.request(.max(1))
    #expect(asked == 2)
    chunks.send(completion: .finished)
    #expect(lines == ["a", "b", "c"])
    subscription?.cancel()
  }

  @Test func `a failure follows the lines before it`() {
    struct Torn: Error {}
    let chunks = PassthroughSubject<Chunk, Torn>()
    var events: [String] = []
    var subscription: (any Subscription)?
    chunks.lines().subscribe(
      AnySubscriber(
        receiveSubscription: { subscription = $0 },
        receiveValue: {
          events.append($0)
          return .none
        },
        receiveCompletion: { events.append("\($0)".contains("Torn") ? "torn" : "\($0)") }))
    subscription?.request(.max(1))
    chunks.send("a\nb\nc")
    chunks.send(completion: .failure(Torn()))
    #expect(events == ["a"])
    subscription?.request(.unlimited)
    #expect(events == ["a", "b", "torn"])
  }

  @Test func `a million lines pulled one by one keep the stack flat`() {
    let chunks = (0..<1_000).map { _ in Chunk(String(repeating: "x\n", count: 1_000)) }
    var count = 0
    var subscription: (any Subscription)?
    chunks.publisher.lines().subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          $0.request(.max(1))
        },
        receiveValue: { _ in
          count += 1
          return .max(1)
        }))
    #expect(count == 1_000_000)
    subscription?.cancel()
  }

  @Test func `an incomplete part that arrives byte by byte takes little memory`() throws {
    var decoder = SplittingDecoder(separator: 0)
    let bytes = (0..<100_000).map { UInt8(1 + $0 % 255) }
    for byte in bytes {
      decoder.feed([byte])
      #expect(try decoder.next() == nil)
    }
    #expect(decoder.beginning.count < 50)
    #expect(decoder.beginning.reduce(0) { $0 + $1.keptMemory.bytes } == bytes.count)
    decoder.feed([0])
    #expect(try decoder.next() == Chunk(bytes))
  }

  @Test func `an incomplete chunk of a fixed size that arrives byte by byte takes little memory`() {
    let bytes = (0..<100_000).map { UInt8($0 % 256) }
    var decoder = RecuttingDecoder(count: bytes.count)
    for byte in bytes.dropLast() {
      decoder.feed([byte])
      #expect(decoder.next() == nil)
    }
    #expect(decoder.held.count < 50)
    #expect(decoder.held.reduce(0) { $0 + $1.keptMemory.bytes } == bytes.count - 1)
    decoder.feed([bytes.last!])
    #expect(decoder.next() == Chunk(bytes))
  }

  @Test func `large chunks that are kept are not copied into each other`() {
    var kept: [Chunk] = []
    for count in [1, 2, 3, 5_000, 6_000, 1, 1, 0, 0] { kept.appendCompacted(Chunk(repeatElement(1, count: count))) }
    #expect(kept.map(\.count) == [6, 5_000, 6_000, 2, 0])
  }
}

extension Subscribers.Completion {
  fileprivate var error: ChunkError? { if case .failure(let error) = self { error as? ChunkError } else { nil } }
}
