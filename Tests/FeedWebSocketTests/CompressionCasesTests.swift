import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedWebSocket

/// Smaller versions of categories 12 and 13 of the Autobahn test suite: messages of many lengths, whole and in
/// fragments, echoed under every combination of parameters.
@Suite(.settled) struct CompressionCasesTests {
  private static let offers: [String] = {
    var offers: [String] = []
    for forgets in ["", "; server_no_context_takeover"] {
      for clientForgets in ["", "; client_no_context_takeover"] {
        for bits in ["", "; server_max_window_bits=9", "; server_max_window_bits=15"] {
          for clientBits in ["", "; client_max_window_bits", "; client_max_window_bits=9"] {
            offers.append("permessage-deflate" + forgets + clientForgets + bits + clientBits)
          }
        }
      }
    }
    return offers
  }()

  private func payload(_ count: Int) -> [UInt8] {
    let words = Array("{\"id\": 4711, \"name\": \"a name that comes again\", \"list\": [1, 2, 3]}, ".utf8)
    return (0..<count).map { words[$0 % words.count] }
  }

  private func run(isServer: Bool, _ talk: Talk, _ terms: DeflateTerms) throws {
    // The peer compresses its messages within the negotiated parameters.
    let options = WebSocketCompression(windowBits: terms.windowBits(sentByServer: !isServer))
    let peer = try #require(DeflateContext(terms, options, isServer: !isServer))
    var expected: [String] = []
    for (count, fragment) in [(16, 0), (64, 0), (1_024, 0), (8_192, 0), (8_192, 256), (131_072, 0), (131_072, 4_096)] {
      let bytes = payload(count)
      let compressed = Array(peer.deflate(Chunk(bytes), isLast: true))
      let step = fragment == 0 ? max(compressed.count, 1) : min(fragment, max(compressed.count / 3, 1))
      for start in stride(from: 0, to: compressed.count, by: step) {
        let end = min(start + step, compressed.count)
        let first: UInt8 = (start == 0 ? 0x41 : 0) | (end == compressed.count ? 0x80 : 0)
        talk.send(talk.frame(first, Array(compressed[start..<end])))
      }
      expected.append(count <= 130 ? "text " + String(decoding: bytes, as: UTF8.self) : "text \(count) bytes")
    }
    #expect(talk.words(terms) == expected, "\(talk.handshake)")
    // Compression has saved bytes.
    #expect(talk.heard.count < 60_000)
    talk.end()
  }

  @Test func `a server echoes under every compression offer`() throws {
    let options = WebSocketCompression(keepsContext: true)
    for offer in Self.offers {
      let terms = try #require(try options.answer([offer])).terms
      try withVirtualTime { time in
        let talk = try Talk(time, isServer: true, offers: offer, compression: options)
        #expect(talk.handshake.contains("permessage-deflate"))
        try run(isServer: true, talk, terms)
      }
    }
  }

  @Test func `a client echoes under every compression choice of the server`() throws {
    let options = WebSocketCompression(keepsContext: true)
    for choice in Self.offers where !choice.hasSuffix("client_max_window_bits") {
      let terms = try #require(try options.terms([choice]))
      try withVirtualTime { time in
        let talk = try Talk(time, isServer: false, chooses: choice, compression: options)
        try run(isServer: false, talk, terms)
      }
    }
  }

  @Test func `a message that decompresses beyond the limit closes the socket with 1009`() throws {
    let options = WebSocketCompression()
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true, offers: "permessage-deflate", compression: options)
      let peer = try #require(DeflateContext(DeflateTerms(), options, isServer: false))
      let bomb = Array(peer.deflate(Chunk([UInt8](repeating: 0, count: 30 << 20)), isLast: true))
      talk.send(talk.frame(0xC2, bomb))
      #expect(talk.words() == ["close 1009"])
      talk.end()
    }
  }
}
