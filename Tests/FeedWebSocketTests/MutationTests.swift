import FeedHTTPServer
import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedWebSocket

/// Randomly damaged frames and handshakes must cause no crash, no hang, and no memory use beyond the limits. A short
/// form runs with the tests; `FEEDSTREAM_MUTATIONS=1000000` runs a million mutations.
@Suite(.settled) struct MutationTests {
  private static let count = ProcessInfo.processInfo.environment["FEEDSTREAM_MUTATIONS"].flatMap { Int($0) } ?? 20_000

  private static func mutate(_ bytes: inout [UInt8], _ generator: inout Seeded) {
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let at = Int.random(in: 0...max(bytes.count - 1, 0), using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0 where !bytes.isEmpty: bytes[at] = UInt8.random(in: 0...255, using: &generator)
      case 1 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 2 where !bytes.isEmpty: bytes.remove(at: at)
      case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: at)
      case 4 where !bytes.isEmpty: bytes.removeSubrange(at..<min(at + 8, bytes.count))
      default: bytes.insert(contentsOf: bytes.suffix(bytes.count - at).prefix(16), at: at)
      }
    }
  }

  @Test func `damaged frames never crash the reader, and are read identically however they are split`() {
    var generator = Seeded(seed: 1)
    let terms = DeflateTerms()
    let deflate = DeflateContext(terms, WebSocketCompression(), isServer: false)
    let compressed = Array(
      deflate?.deflate(Chunk(String(repeating: "compressed ", count: 40)), isLast: true) ?? Chunk())
    let seeds: [[UInt8]] = [
      Raw.frame(0x81, Array("Hello".utf8), isMasked: true), Raw.frame(0xC1, compressed, isMasked: true),
      Raw.frame(0x01, Array("κό".utf8), isMasked: true) + Raw.frame(0x89, [1], isMasked: true)
        + Raw.frame(0x80, Array("σμε".utf8), isMasked: true),
      Raw.frame(0x82, [UInt8](repeating: 7, count: 300), isMasked: true),
      Raw.close(1000, Array("bye".utf8), isMasked: true),
      Raw.frame(0x41, Array(compressed.prefix(10)), isMasked: true)
        + Raw.frame(0x80, Array(compressed.dropFirst(10)), isMasked: true),
    ]
    var limits = WebSocketLimits()
    limits.messageBytes = 4_096
    func read(_ pieces: [ArraySlice<UInt8>]) -> [String] {
      var reader = MessageReader(isServer: true, limits: limits, compression: terms)
      var words: [String] = []
      for piece in pieces {
        reader.feed(Chunk(piece))
        do throws(ProtocolFailure) {
          while let event = try reader.next() {
            if case .message(let message) = event, message.bytes.count > limits.messageBytes {
              words.append("too long")
            }
            words.append(Raw.words(event))
          }
        } catch {
          return words + ["\(error.code.number)"]
        }
      }
      return words
    }
    var (refused, taken) = (0, 0)
    for _ in 0..<Self.count {
      var bytes = seeds.randomElement(using: &generator)! + seeds.randomElement(using: &generator)!
      Self.mutate(&bytes, &generator)
      let whole = read([bytes[...]])
      let cut = Int.random(in: 0...bytes.count, using: &generator)
      let halves = read([bytes[..<cut], bytes[cut...]])
      #expect(whole == halves, "\(bytes) cut at \(cut)")
      #expect(!whole.contains("too long"))
      if let last = whole.last, Int(last) != nil { refused += 1 } else { taken += 1 }
    }
    // Enough inputs must be refused, and enough accepted.
    #expect(refused > Self.count / 20 && taken > Self.count / 20, "\(refused) \(taken)")
  }

  @Test func `damaged handshakes never crash their parsers`() {
    var generator = Seeded(seed: 2)
    let response = Array(
      ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
        + "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=10\r\n\r\n").utf8)
    let values = [
      "permessage-deflate; server_max_window_bits=10; client_max_window_bits, x; y=\"z\"", "websocket, h2c",
      "keep-alive, Upgrade", "dGhlIHNhbXBsZSBub25jZQ==", "13", "https://example.org", "ws://[::1]:80/chat?x=1",
    ]
    for index in 0..<Self.count {
      if index % 2 == 0 {
        var bytes = response
        Self.mutate(&bytes, &generator)
        if let (head, length) = try? ResponseHead.parse(bytes) {
          #expect(length <= bytes.count && head.status >= 100)
          // A complete head is the same when more bytes follow, and isn't complete before its last byte.
          #expect((try? ResponseHead.parse(bytes + [0]))?.length == length)
          #expect((try? ResponseHead.parse(Array(bytes.prefix(length - 1)))) == nil)
        }
      } else {
        var value = Array(values.randomElement(using: &generator)!.utf8)
        Self.mutate(&value, &generator)
        let text = String(decoding: value, as: UTF8.self)
        _ = try? ExtensionList.parse([text])
        _ = TokenList.parse([text])
        _ = try? WebSocketURL(text)
        let names = [
          "Upgrade", "Connection", "Sec-WebSocket-Version", "Sec-WebSocket-Key", "Sec-WebSocket-Protocol",
          "Sec-WebSocket-Extensions", "Origin",
        ]
        let headers = HTTPHeaders(names.map { (name: $0, value: text) })
        let request = HandshakeRequest(isGet: true, isCurrentVersion: true, host: text, headers: headers)
        if case .success = WebSocketUpgrade().check(request) { Issue.record("\(text) is not a handshake") }
        if let answer = try? WebSocketCompression().answer([text]) {
          #expect((8...15).contains(answer.terms.serverWindowBits) && (8...15).contains(answer.terms.clientWindowBits))
        }
      }
    }
  }
}
