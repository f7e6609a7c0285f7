import FeedStream
import TestSupport
import Testing

@testable import FeedWebSocket

/// The parser: its results are the same however the bytes are split.
@Suite(.settled) struct MessageReaderTests {
  private static func read(
    _ pieces: [[UInt8]], isServer: Bool, _ limits: WebSocketLimits, _ compression: DeflateTerms?
  ) -> [String] {
    var reader = MessageReader(isServer: isServer, limits: limits, compression: compression)
    var words: [String] = []
    for piece in pieces {
      reader.feed(Chunk(piece))
      do throws(ProtocolFailure) {
        while let event = try reader.next() { words.append(Raw.words(event)) }
      } catch {
        return words + ["\(error.code.number)"]
      }
    }
    return words
  }

  /// Reads bytes in one piece, byte by byte, and split in two at every position; all results must agree.
  private func read(
    _ bytes: [UInt8], isServer: Bool = true, _ limits: WebSocketLimits = WebSocketLimits(),
    _ compression: DeflateTerms? = nil
  ) -> [String] {
    let whole = Self.read([bytes], isServer: isServer, limits, compression)
    #expect(Self.read(bytes.map { [$0] }, isServer: isServer, limits, compression) == whole)
    for cut in bytes.indices.prefix(200) {
      let halves = [Array(bytes[..<cut]), Array(bytes[cut...])]
      #expect(Self.read(halves, isServer: isServer, limits, compression) == whole)
    }
    return whole
  }

  @Test func `the example frames in section 5.7 of RFC 6455 are read`() {
    let hello = Array("Hello".utf8)
    #expect(read([0x81, 0x05] + hello, isServer: false) == ["text Hello"])
    #expect(read([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]) == ["text Hello"])
    #expect(read([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], isServer: false) == ["text Hello"])
    #expect(read([0x89, 0x05] + hello, isServer: false) == ["ping Hello"])
    #expect(read([0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]) == ["pong Hello"])
    #expect(
      read([0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 0xFF, count: 256), isServer: false) == ["binary 256 bytes"])
    #expect(
      Self.read(
        [[0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 0xFF, count: 65_536)], isServer: false,
        WebSocketLimits(), nil) == ["binary 65536 bytes"])
  }

  @Test func `control frames between a message's fragments are delivered before it`() {
    let bytes =
      Raw.frame(0x01, Array("a".utf8), isMasked: true) + Raw.frame(0x89, Array("p".utf8), isMasked: true)
      + Raw.frame(0x00, [], isMasked: true) + Raw.frame(0x80, Array("b".utf8), isMasked: true)
    #expect(read(bytes) == ["ping p", "text ab"])
  }

  @Test(
    arguments: [
      ([0xC1, 0x80], 1002), ([0xA1, 0x80], 1002), ([0x91, 0x80], 1002), ([0x83, 0x80], 1002), ([0x8B, 0x80], 1002),
      ([0x09, 0x80], 1002), ([0x89, 0xFE, 0, 126], 1002), ([0x80, 0x80], 1002), ([0x81, 0x00], 1002),
      ([0x81, 0xFE, 0, 125], 1002), ([0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 1002),
      ([0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002), ([0x82, 0xFF, 0, 0, 0, 0, 0, 0x20, 0, 0], 1009),
    ] as [([UInt8], Int)])
  func `an invalid frame is refused at its header`(_ bytes: [UInt8], _ code: Int) {
    // Append a mask, for frames that are refused because of their length.
    #expect(read(bytes + [1, 2, 3, 4]) == ["\(code)"])
  }

  @Test func `a message within a message is refused, and so is a server's masked frame`() {
    let first = Raw.frame(0x01, [], isMasked: true)
    #expect(read(first + first) == ["1002"])
    #expect(read(Raw.frame(0x81, [], isMasked: true), isServer: false) == ["1002"])
  }

  @Test func `UTF-8 is validated while text arrives`() {
    // An overlong encoding, and then announced bytes that never arrive.
    let header = Raw.frame(0x01, [0xCE, 0xBA, 0xC0, 0xAF, 0x41, 0x41], isMasked: true).dropLast(2)
    #expect(read(Array(header)) == ["1007"])
    // A character may be split between two fragments, but must be complete.
    let split = Raw.frame(0x01, [0xCE], isMasked: true)
    #expect(read(split + Raw.frame(0x80, [0xBA], isMasked: true)) == ["text κ"])
    #expect(read(split + Raw.frame(0x80, [], isMasked: true)) == ["1007"])
  }

  @Test func `a close frame is empty, or has a valid code and UTF-8 text`() {
    #expect(read(Raw.close(nil, isMasked: true)) == ["close"])
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] {
      #expect(read(Raw.close(code, isMasked: true)) == ["close \(code)"])
    }
    for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
      #expect(read(Raw.close(code, isMasked: true)) == ["1002"])
    }
    #expect(read(Raw.frame(0x88, [3], isMasked: true)) == ["1002"])
    #expect(read(Raw.close(1000, [0xC0], isMasked: true)) == ["1007"])
  }

  @Test func `a message over the limit is refused`() {
    var limits = WebSocketLimits()
    limits.messageBytes = 10
    let five = [UInt8](repeating: 0x61, count: 5)
    let start = Raw.frame(0x02, five, isMasked: true)
    #expect(read(start + Raw.frame(0x80, five, isMasked: true), limits) == ["binary aaaaaaaaaa"])
    #expect(read(start + Raw.frame(0x80, five + [0x61], isMasked: true), limits) == ["1009"])
    limits.frameBytes = 4
    #expect(read(start, limits) == ["1009"])
  }

  @Test func `without demand a message waits, but control frames before it are read`() throws {
    var reader = MessageReader(isServer: true)
    reader.feed(
      Chunk(
        Raw.frame(0x89, [], isMasked: true) + Raw.frame(0x81, [0x61], isMasked: true)
          + Raw.frame(0x8A, [], isMasked: true)))
    var words: [String] = []
    for wantsMessage in [false, false, false, true, false, false] {
      let event = try reader.next(wantsMessage: wantsMessage)
      words.append(event.map { Raw.words($0) } ?? "nothing")
    }
    #expect(words == ["ping", "held", "held", "text a", "pong", "nothing"])
  }

  @Test func `masking works at every offset and alignment`() {
    let source = (0..<100).map { UInt8($0) }
    for offset in 0..<8 {
      for count in [0, 1, 3, 4, 5, 31, 32, 33, 64, 99] {
        var target = [UInt8](repeating: 0, count: 100)
        let mask = Raw.mask.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        source.withUnsafeBytes { bytes in
          target.withUnsafeMutableBytes {
            Masking.apply(
              mask, at: offset, from: UnsafeRawBufferPointer(rebasing: bytes[1..<min(count + 1, 100)]),
              to: $0.baseAddress!)
          }
        }
        let expected = (0..<min(count, 99)).map { source[$0 + 1] ^ Raw.mask[($0 + offset) & 3] }
        #expect(Array(target.prefix(expected.count)) == expected)
      }
    }
  }

  @Test func `the UTF-8 checker agrees with the standard library`() {
    var generator = Seeded(seed: 7)
    let alphabet: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF3,
      0xF4, 0xF5, 0xFF,
    ]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        alphabet.randomElement(using: &generator)!
      }
      var checker = UTF8Checker()
      let isText = bytes.withUnsafeBytes { checker.check($0) } && checker.isComplete
      #expect(isText == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
    }
  }
}

/// A generator of the same numbers in each run.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }
}
