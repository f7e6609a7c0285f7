import FeedStream
import TestSupport
import Testing

@testable import FeedHTTPServer

@Suite(.settled) struct HeadParserTests {
  enum Reading: Equatable {
    case head(String)
    case needsMore
    case refused(Int)
  }

  static func parse(_ pieces: [Chunk], _ limits: HTTPServerLimits = HTTPServerLimits()) -> Reading {
    var parser = HeadParser(limits)
    for (index, piece) in pieces.enumerated() {
      switch parser.feed(piece) {
      case .incomplete: continue
      case .failure(let failure): return .refused(failure.status.code)
      case .complete(let consumed):
        let rest = pieces[index].count - consumed + pieces[(index + 1)...].reduce(0) { $0 + $1.count }
        return .head(describe(parser.head) + (rest > 0 ? " +\(rest)" : ""))
      }
    }
    return .needsMore
  }

  static func describe(_ head: RequestHead) -> String {
    let fields = HTTPHeaders(head).map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    let query = head.query.map { "?" + head.text($0) } ?? ""
    return "\(head.method) \(head.form) \(head.text(head.path))\(query) @\(head.authority.map(head.text) ?? "-")"
      + " 1.\(head.minorVersion) \(head.framing) \(head.keepsAlive ? "keeps" : "closes") [\(fields)]"
  }

  /// Reads a head in one piece, byte by byte, and split in two at every position; all results must agree.
  static func read(_ bytes: Chunk, _ limits: HTTPServerLimits = HTTPServerLimits()) -> Reading {
    let whole = parse([bytes], limits)
    if bytes.count < 2_000 {
      for cut in 0...bytes.count {
        let halves = [bytes[0..<cut], bytes[cut..<bytes.count]].filter { !$0.isEmpty }
        let reading = parse(halves, limits)
        if reading != whole { Issue.record("cut at \(cut) it reads as \(reading), whole as \(whole)") }
      }
    }
    let single = parse(bytes.map { [$0] }, limits)
    if single != whole { Issue.record("byte by byte it reads as \(single), whole as \(whole)") }
    return whole
  }

  static func read(_ text: String) -> Reading { read(Chunk(text)) }

  @Test func `the parts of a request header are parsed`() {
    #expect(
      Self.read("GET /a/b?c=d HTTP/1.1\r\nHost: example.org:80\r\nX:  two words \t\r\n\r\nrest")
        == .head("GET origin /a/b?c=d @example.org:80 1.1 none keeps [Host=example.org:80&X=two words] +4"))
  }

  @Test func `header fields may be empty, repeated, and contain bytes above 127`() {
    #expect(
      Self.read("M-SEARCH / HTTP/1.1\r\nHost:h\r\na:\r\na: \r\na:é\r\n\r\n")
        == .head("M-SEARCH origin / @h 1.1 none keeps [Host=h&a=&a=&a=é]"))
  }

  @Test func `a few empty lines before a request are skipped`() {
    #expect(Self.read("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n") == .head("GET origin / @h 1.1 none keeps [Host=h]"))
    #expect(Self.read("\r\n\r\n\r\n\r\n\r\n\r\n") == .refused(400))
  }

  @Test(arguments: [
    ("GET http://other:81/p?q HTTP/1.1\r\nHost: h\r\n\r\n", "GET absolute /p?q @other:81 1.1 none keeps [Host=h]"),
    ("GET HTTP://other HTTP/1.1\r\nHost: h\r\n\r\n", "GET absolute  @other 1.1 none keeps [Host=h]"),
    ("GET http://other?q HTTP/1.1\r\nHost: h\r\n\r\n", "GET absolute ?q @other 1.1 none keeps [Host=h]"),
    ("GET https://[::1]:8/ HTTP/1.1\r\nHost: h\r\n\r\n", "GET absolute / @[::1]:8 1.1 none keeps [Host=h]"),
    ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS asterisk  @h 1.1 none keeps [Host=h]"),
    ("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", "CONNECT authority  @h:443 1.1 none keeps [Host=h:443]"),
    (
      "GET //a;b/%20:@!$&'()*+,;=~ HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET origin //a;b/%20:@!$&'()*+,;=~ @h 1.1 none keeps [Host=h]"
    ),
    ("GET /a[1]|b^c HTTP/1.1\r\nHost: h\r\n\r\n", "GET origin /a[1]|b^c @h 1.1 none keeps [Host=h]"),
    ("GET /?a[]=1|2?{}^ HTTP/1.1\r\nHost: h\r\n\r\n", "GET origin /?a[]=1|2?{}^ @h 1.1 none keeps [Host=h]"),
    (
      "GET /? HTTP/1.1\r\nHost: [2001:db8::1]\r\n\r\n",
      "GET origin /? @[2001:db8::1] 1.1 none keeps [Host=[2001:db8::1]]"
    ),
    ("GET / HTTP/1.0\r\n\r\n", "GET origin / @- 1.0 none closes []"),
    ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET origin / @- 1.0 none keeps [Connection=Keep-Alive]"),
    ("GET / HTTP/1.7\r\nHost: h\r\n\r\n", "GET origin / @h 1.1 none keeps [Host=h]"),
    (
      "GET / HTTP/1.1\r\nhost: h\r\nConnection: foo, CLOSE ,\r\n\r\n",
      "GET origin / @h 1.1 none closes [host=h&Connection=foo, CLOSE ,]"
    ),
    (
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 007\r\n\r\n",
      "POST origin / @h 1.1 length(7) keeps [Host=h&Content-Length=007]"
    ),
    (
      "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
      "GET origin / @h 1.1 none keeps [Host=h&Content-Length=0]"
    ),
    (
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\tCHUNKED \r\n\r\n",
      "POST origin / @h 1.1 chunked keeps [Host=h&Transfer-Encoding=CHUNKED]"
    ),
    ("GET / HTTP/1.1\r\nHost: a.b_c-d~%41\r\n\r\n", "GET origin / @a.b_c-d~%41 1.1 none keeps [Host=a.b_c-d~%41]"),
    ("GET / HTTP/1.1\r\nHost: h:\r\n\r\n", "GET origin / @h: 1.1 none keeps [Host=h:]"),
  ])
  func `every form of message that RFC 9112 allows is parsed`(_ text: String, _ expected: String) {
    #expect(Self.read(text) == .head(expected))
  }

  @Test(arguments: [
    // The request line.
    (" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GE\tT / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /  HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400),
    ("GET /\r\n", 400), ("GET\r\n", 400), ("\n\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("G@T / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("(GET) / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / http/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.10\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/01.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1,1\r\nHost: h\r\n\r\n", 400), ("GET / HTTPS/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / FTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: h\n\n", 400),
    ("GET / HTTP/1.1\rHost: h\r\r", 400), ("GET / HTTP/1.1\r\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("GET / HTTP/0.9\r\n\r\n", 505), ("GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505),
    ("AVERYLONGMETHODTHATNOBODYHASEVERHEARDOF / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
    // The target.
    ("GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET ?a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET h:80 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /?a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /\u{7F} HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /\u{0} HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /é HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /a\\b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /<a> HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /\"a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /% HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /%4 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET /?%0 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET http:///p HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET http://u:p@h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET http://h:99999/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET http://[::1/ HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("CONNECT h HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("CONNECT / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("CONNECT http://h:1/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    // Fields.
    ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\na: b\r\n c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\na: b\r\n\tc\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost\t: h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nab\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\na b: c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\na(: c\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\né: c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\na: b\nc: d\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\n\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\na: b\rc: d\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\n\rx", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\n\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\na: b\u{0}c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\na: \u{1B}[2J\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\na: \u{7F}\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length : 1\r\n\r\na", 400),
    // Host.
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.0\r\nHost: h\r\nhost: i\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h:8a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h:70000\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: [x]\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: http://h\r\n\r\n", 400), ("GET http://h/ HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h%zz\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: hé\r\n\r\n", 400),
    // Framing.
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1 1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1.0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9223372036854775808\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked;q=1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked,\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \u{B}chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n", 400),
    ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 200-maybe\r\n\r\n", 417),
  ])
  func `ambiguous messages are refused`(_ text: String, _ status: Int) {
    #expect(Self.read(text) == .refused(status))
  }

  @Test func `TLS is refused at its first byte`() {
    #expect(Self.read(Chunk([0x16, 0x03, 0x01, 0x02])) == .refused(400))
  }

  @Test func `an incomplete request header waits for more bytes`() {
    for text in ["", "G", "GET /", "GET / HTTP/1.1\r\nHost: h\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r"]
    where !text.isEmpty {
      #expect(Self.read(text) == .needsMore)
    }
  }

  @Test func `lines, fields and their number have exact limits`() {
    var limits = HTTPServerLimits()
    limits.requestLineBytes = 40
    limits.headerBytes = 60
    limits.headerCount = 3
    func status(_ path: Int, _ value: Int, _ count: Int = 0) -> Reading {
      let fields = String(repeating: "a:\r\n", count: count)
      let text =
        "GET /\(String(repeating: "p", count: path)) HTTP/1.1\r\nHost: \(String(repeating: "h", count: value))\r\n\(fields)\r\n"
      return Self.read(Chunk(text), limits)
    }
    // The line has 16 bytes besides the path.
    #expect(status(24, 1) != .refused(414))
    #expect(status(25, 1) == .refused(414))
    #expect(status(1_000, 1) == .refused(414))
    // The header has 10 bytes besides the host.
    #expect(status(1, 50) != .refused(431))
    #expect(status(1, 51) == .refused(431))
    #expect(status(1, 1, 2) != .refused(431))
    #expect(status(1, 1, 3) == .refused(431))
  }

  @Test func `random bytes never crash the parser, and parse identically however they are split`() {
    var generator = SplitMix64(seed: 7)
    let seeds = [
      "GET /a?b HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n",
      "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\nConnection: close\r\n\r\n",
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    ].map { Array($0.utf8) }
    for _ in 0..<3_000 {
      var bytes = seeds[Int.random(in: 0..<seeds.count, using: &generator)]
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.insert(Array("\r\n :\t\0;,%".utf8).randomElement(using: &generator)!, at: place)
        default: bytes.remove(at: place)
        }
      }
      let whole = Self.parse([Chunk(bytes)])
      let single = Self.parse(bytes.map { [$0] })
      if whole != single { Issue.record("\(Chunk(bytes)): \(whole), byte by byte \(single)") }
    }
  }
}
