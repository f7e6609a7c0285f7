import FeedStream
import TestSupport
import Testing

@testable import FeedWebSocket

@Suite(.settled) struct CompressionTests {
  private static let loose = WebSocketCompression(keepsContext: true)

  private func answer(_ offer: String, _ options: WebSocketCompression = CompressionTests.loose) -> String? {
    (try? options.answer([offer]))?.field
  }

  @Test func `a server accepts the parameters of an offer that it supports`() {
    let name = "permessage-deflate"
    #expect(answer(name) == name)
    #expect(answer("\(name); client_max_window_bits") == name)
    #expect(
      answer("\(name); server_no_context_takeover; client_no_context_takeover")
        == "\(name); server_no_context_takeover; client_no_context_takeover")
    #expect(answer("\(name); server_max_window_bits=10") == "\(name); server_max_window_bits=10")
    #expect(answer("\(name); server_max_window_bits=\"10\"") == "\(name); server_max_window_bits=10")
    #expect(answer("\(name); client_max_window_bits=9") == "\(name); client_max_window_bits=9")
    #expect(answer("\(name); server_max_window_bits=8") == "\(name); server_max_window_bits=8")
    let small = WebSocketCompression(windowBits: 11)
    #expect(
      answer("\(name); client_max_window_bits", small)
        == "\(name); server_no_context_takeover; client_no_context_takeover; server_max_window_bits=11; client_max_window_bits=11"
    )
    // Without the offer, the server must not limit the client's window.
    #expect(answer(name, small)?.contains("client_max_window_bits") == false)
  }

  @Test func `an invalid offer is skipped, and the next one is accepted`() {
    let name = "permessage-deflate"
    for offer in [
      "server_max_window_bits", "server_max_window_bits=7", "server_max_window_bits=16", "server_max_window_bits=08",
      "client_max_window_bits=abc", "server_no_context_takeover=1", "unknown",
      "server_no_context_takeover; server_no_context_takeover",
    ] {
      #expect(answer("\(name); \(offer)") == nil, "\(offer)")
      #expect(answer("\(name); \(offer), \(name)") == name, "\(offer)")
    }
    #expect(answer("x-webkit-deflate-frame") == nil)
    #expect(throws: FieldSyntaxError.self) { try Self.loose.answer(["a b"]) }
    #expect(throws: FieldSyntaxError.self) { try Self.loose.answer(["a; =b"]) }
    #expect(throws: FieldSyntaxError.self) { try Self.loose.answer(["a; b=\"c d\""]) }
  }

  @Test func `a client accepts only responses that match its offer`() throws {
    let name = "permessage-deflate"
    #expect(try Self.loose.terms([]) == nil)
    #expect(try Self.loose.terms([name]) == DeflateTerms())
    #expect(try Self.loose.terms(["\(name); client_max_window_bits=9"])?.clientWindowBits == 9)
    #expect(try Self.loose.terms(["\(name); server_no_context_takeover"])?.serverForgets == true)
    for chosen in [
      "other", "\(name), \(name)", "\(name); client_max_window_bits", "\(name); server_max_window_bits=16",
      "\(name); x", "\(name); server_no_context_takeover; server_no_context_takeover",
    ] {
      #expect(throws: FieldSyntaxError.self, "\(chosen)") { try Self.loose.terms([chosen]) }
    }
    #expect(throws: FieldSyntaxError.self) { try WebSocketCompression(windowBits: 10).terms([name]) }
    #expect(WebSocketCompression(windowBits: 10).offer.contains("client_max_window_bits=10"))
  }

  private func inflate(_ payload: [UInt8], _ limits: WebSocketLimits = WebSocketLimits()) -> [String] {
    var reader = MessageReader(isServer: false, limits: limits, compression: DeflateTerms())
    reader.feed(Chunk(Raw.frame(0xC1, payload, isMasked: false)))
    do throws(ProtocolFailure) {
      var words: [String] = []
      while let event = try reader.next() { words.append(Raw.words(event)) }
      return words
    } catch {
      return ["\(error.code.number)"]
    }
  }

  @Test func `the examples in section 7.2.3 of RFC 7692 are read`() throws {
    #expect(inflate([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]) == ["text Hello"])
    // A block without compression, a final block, and two blocks.
    #expect(inflate([0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]) == ["text Hello"])
    #expect(inflate([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]) == ["text Hello"])
    #expect(
      inflate([0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]) == ["text Hello"])
    // The second message refers to the first.
    var reader = MessageReader(isServer: false, compression: DeflateTerms())
    reader.feed(Chunk(Raw.frame(0xC1, [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], isMasked: false)))
    reader.feed(Chunk(Raw.frame(0xC1, [0xF2, 0x00, 0x11, 0x00, 0x00], isMasked: false)))
    let (first, second) = (try reader.next(), try reader.next())
    #expect(first == .message("Hello") && second == .message("Hello"))
  }

  @Test func `a compressed message is read without a limit`() {
    var limits = WebSocketLimits()
    (limits.messageBytes, limits.frameBytes) = (.max, .max)
    #expect(inflate([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], limits) == ["text Hello"])
  }

  @Test func `data that can't be decompressed is refused with 1007`() {
    #expect(inflate([0xFF, 0xFF, 0xFF, 0xFF]) == ["1007"])
    // A block without an end.
    #expect(inflate([0xF2, 0x48, 0xCD]) == ["1007"])
    #expect(inflate([]) == ["text"])
    #expect(inflate([0x00]) == ["text"])
  }

  @Test func `a compression bomb is refused when its limit is reached`() {
    let context = DeflateContext(DeflateTerms(), WebSocketCompression(), isServer: true)
    let bomb = context?.deflate(Chunk([UInt8](repeating: 0x61, count: 50 << 20)), isLast: true)
    #expect((bomb?.count ?? .max) < 60_000)
    #expect(inflate(Array(bomb ?? Chunk())) == ["1009"])
  }

  @Test(arguments: [9, 12, 15], [true, false])
  func `compressed messages arrive intact, with every window size, with and without context`(_ bits: Int, _ keeps: Bool)
    throws
  {
    var terms = DeflateTerms()
    (terms.serverWindowBits, terms.serverForgets) = (bits, !keeps)
    let context = try #require(DeflateContext(terms, WebSocketCompression(windowBits: bits), isServer: true))
    var reader = MessageReader(isServer: false, compression: terms)
    var generator = Seeded(seed: UInt64(bits))
    var lengths: [Int] = []
    for round in 0..<30 {
      // The messages are repetitive, random, or both.
      let word = (0..<50).map { _ in UInt8.random(in: 0x61...0x7A, using: &generator) }
      let count = Int.random(in: 1...3_000, using: &generator)
      let bytes = (0..<count).map { round % 3 == 0 ? UInt8.random(in: 0...255, using: &generator) : word[$0 % 50] }
      let isText = round % 3 != 0
      let parts = [Chunk(bytes[..<(count / 2)]), Chunk(bytes[(count / 2)...])].filter { !$0.isEmpty }
      for (index, part) in parts.enumerated() {
        let isLast = index == parts.count - 1
        let output = context.deflate(part, isLast: isLast)
        lengths.append(output.count)
        let opcode: UInt8 = index > 0 ? 0 : isText ? 0x41 : 0x42
        reader.feed(Chunk(Raw.frame(opcode | (isLast ? 0x80 : 0), Array(output), isMasked: false)))
        let event = try reader.next()
        #expect(event == (isLast ? .message(WebSocketMessage(isText: isText, Chunk(bytes))) : nil))
      }
    }
    #expect(lengths.reduce(0, +) > 0)
  }

  @Test func `a window of 8 bits is accepted, and messages are sent uncompressed`() {
    var terms = DeflateTerms()
    terms.serverWindowBits = 8
    #expect(DeflateContext(terms, WebSocketCompression(), isServer: true) == nil)
  }
}
