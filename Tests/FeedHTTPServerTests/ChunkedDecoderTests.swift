import FeedStream
import TestSupport
import Testing

@testable import FeedHTTPServer

@Suite(.settled) struct ChunkedDecoderTests {
  private static func decode(_ pieces: [Chunk]) -> String {
    let decoder = ChunkedDecoder(HTTPServerLimits())
    var text = ""
    for (index, piece) in pieces.enumerated() {
      var input = piece
      steps: while true {
        switch decoder.next(&input) {
        case .data(let data): text += data.text
        case .needsMore: break steps
        case .dataWaits: return "waits"
        case .failure(let failure): return "refused \(failure.status.code)"
        case .finished:
          let rest = input.count + pieces[(index + 1)...].reduce(0) { $0 + $1.count }
          let trailers = HTTPHeaders(decoder.trailers).map { "\($0.name)=\($0.value)" }
          return "\(text)|\(trailers.joined(separator: "&"))|\(rest)"
        }
      }
    }
    return "more after \(text)"
  }

  private static func read(_ text: String) -> String {
    let bytes = Chunk(text)
    let whole = decode([bytes])
    for cut in 0...bytes.count {
      let halves = decode([bytes[0..<cut], bytes[cut..<bytes.count]])
      if halves != whole { Issue.record("cut at \(cut) it reads as \(halves), whole as \(whole)") }
    }
    let single = decode(bytes.map { [$0] })
    if single != whole { Issue.record("byte by byte it reads as \(single), whole as \(whole)") }
    return whole
  }

  @Test(arguments: [
    ("5\r\nhello\r\n0\r\n\r\n", "hello||0"), ("1\r\na\r\n2\r\nbc\r\n0\r\n\r\nGET", "abc||3"),
    ("0\r\n\r\n", "||0"), ("000\r\n\r\n", "||0"), ("00000000000000A\r\n0123456789\r\n0\r\n\r\n", "0123456789||0"),
    ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789||0"), ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n||0"),
    ("1;a\r\nx\r\n0;b=c\r\n\r\n", "x||0"), ("1 ; a = \"b;\\\"\r\" \r\n", "refused 400"),
    ("1;a=\"b;\\\" c\";d\r\nx\r\n0\r\n\r\n", "x||0"), ("1 ;a\r\nx\r\n0\r\n\r\n", "x||0"),
    ("1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\nrest", "x|A=b&C=|4"), ("1\r\nx", "more after x"),
  ])
  func `chunks, chunk extensions and trailers are parsed`(_ text: String, _ expected: String) {
    #expect(Self.read(text) == expected)
  }

  @Test(arguments: [
    "\r\n", ";a\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\nx\r\n0\r\n\r\n", " 1\r\nx\r\n", "1 \r\nx\r\n", "1\nx\r\n",
    "1\r\nx\n0\r\n\r\n", "1\r\nxy\r\n0\r\n\r\n", "1\r\nx0\r\n\r\n", "1\rx\r\n", "1\r\nx\r\r\n", "1_0\r\n",
    "10000000000000000\r\n", "FFFFFFFFFFFFFFFF\r\n", "8000000000000000\r\n", "00000000000000001\r\n",
    "1;\r\nx\r\n0\r\n\r\n", "1;a b\r\n", "1;a=\r\n", "1;a=\"b\r\n", "1;a\nx\r\n", "1;a\u{0}\r\n", "1;é\r\n", "1,2\r\n",
    "0\r\nA : b\r\n\r\n", "0\r\n b\r\n\r\n", "0\r\nA: b\n\r\n", "0\r\n\n", "0\r\nContent-Length: 1\r\n\r\n",
    "0\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\nHost: h\r\n\r\n", "0\n\n", "0\r\nA: \u{0}\r\n\r\n",
  ])
  func `invalid chunks are refused`(_ text: String) {
    #expect(Self.read(text) == "refused 400")
  }

  @Test func `long chunk extensions are refused`() {
    let long = Chunk("1;" + String(repeating: "a", count: ChunkedDecoder.extensionLimit + 1))
    #expect(Self.decode([long]) == "refused 400")
    let many = Chunk(String(repeating: "1;aaaaaaa\r\nx\r\n", count: ChunkedDecoder.extensionLimit / 8 + 1))
    #expect(Self.decode([many]) == "refused 400")
  }

  @Test func `trailers have the same limits as header fields`() {
    #expect(Self.decode([Chunk("0\r\n" + String(repeating: "a: b\r\n", count: 101))]) == "refused 431")
    #expect(Self.decode([Chunk("0\r\na: " + String(repeating: "b", count: 40_000))]) == "refused 431")
  }
}
