import FeedRedis
import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct RESPDecoderTests {
  /// The values of bytes that arrive in these pieces.
  private func decode(
    _ pieces: [Chunk], limits: RESPDecoder.Limits = RESPDecoder.Limits(), ends: Bool = true
  ) throws -> [RedisValue] {
    var decoder = RESPDecoder(limits: limits)
    var values: [RedisValue] = []
    for piece in pieces {
      decoder.feed(piece)
      while let value = try decoder.next() { values.append(value) }
    }
    if ends { _ = try decoder.finish() }
    return values
  }

  private static let everything = """
    +OK\r\n-WRONGTYPE Operation against a key\r\n:-42\r\n:9223372036854775807\r\n:-9223372036854775808\r
    $5\r\nhe\r\nl\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*3\r\n:1\r\n*2\r\n+a\r\n$1\r\nb\r\n_\r\n#t\r\n#f\r\n,1.5\r\n,inf\r
    (3492890328409238509324850943850943825024385\r\n!21\r\nSYNTAX invalid syntax\r\n=8\r\ntxt:some\r
    %2\r\n+k\r\n:1\r\n+l\r\n~1\r\n:2\r\n>2\r\n+message\r\n$1\r\nx\r\n|1\r\n+ttl\r\n:3\r\n*2\r\n:1\r\n|1\r\n+a\r\n:0\r\n:2\r\n
    """.replacingOccurrences(of: "\r\n\n", with: "\r\n").replacingOccurrences(of: "\r\n    ", with: "\r\n")

  private static let values: [RedisValue] = [
    .status("OK"), .error(RedisRefusal("WRONGTYPE Operation against a key")), .integer(-42), .integer(.max),
    .integer(.min), .string("he\r\nl"), .string(""), .null, .null, .array([]),
    .array([.integer(1), .array([.status("a"), .string("b")]), .null]), .boolean(true), .boolean(false), .double(1.5),
    .double(.infinity), .bigNumber("3492890328409238509324850943850943825024385"),
    .error(RedisRefusal("SYNTAX invalid syntax")), .string("some"),
    .map([.status("k"), .integer(1), .status("l"), .set([.integer(2)])]),
    .push([.status("message"), .string("x")]), .array([.integer(1), .integer(2)]),
  ]

  @Test func `every type of RESP2 and RESP3 is decoded`() throws {
    #expect(try decode([Chunk(Self.everything)]) == Self.values)
  }

  @Test func `values are decoded identically however the bytes are split`() throws {
    let bytes = Chunk(Self.everything)
    for cut in 0...bytes.count {
      #expect(try decode([bytes[0..<cut], bytes[cut..<bytes.count]]) == Self.values, "cut at \(cut)")
    }
    #expect(try decode(bytes.map { Chunk([$0]) }) == Self.values)
  }

  @Test(arguments: [
    "\r\n", "HTTP/1.1 200 OK\r\n", ":\r\n", ":1a\r\n", ":9223372036854775808\r\n", "$-2\r\n", "$x\r\n", "$1\r\nab\r\n",
    "*-2\r\n", "#x\r\n", ",x\r\n", "(1x\r\n", "(\r\n", "_x\r\n", "=2\r\nab\r\n", "$?\r\n", "*?\r\n", "+OK\n", "?\r\n",
    "%-1\r\n", "~-1\r\n", ":--1\r\n", ":99999999999999999999999\r\n",
  ])
  func `bytes that aren't RESP are refused`(_ text: String) {
    #expect(throws: RESPError.malformed) { try decode([Chunk(text)]) }
  }

  @Test func `a stream that ends within a reply is an error`() throws {
    for text in ["+O", "$5\r\nhel", "*2\r\n:1\r\n", "$5\r\n"] {
      #expect(throws: RESPError.cutOff) { try decode([Chunk(text)]) }
    }
  }

  @Test func `lengths, counts and depth are limited before memory is allocated`() throws {
    var limits = RESPDecoder.Limits()
    (limits.stringBytes, limits.lineBytes, limits.depth, limits.values) = (10, 64, 3, 5)
    #expect(throws: RESPError.tooLong(limit: 10)) { try decode(["$11\r\n"], limits: limits) }
    #expect(throws: RESPError.tooLong(limit: 64)) {
      try decode([Chunk(String(repeating: "+", count: 65))], limits: limits)
    }
    #expect(throws: RESPError.tooDeep(limit: 3)) {
      try decode([Chunk(String(repeating: "*1\r\n", count: 4))], limits: limits)
    }
    #expect(throws: RESPError.tooMany(limit: 5)) { try decode(["*6\r\n"], limits: limits) }
    #expect(throws: RESPError.tooMany(limit: 5)) { try decode(["%3\r\n"], limits: limits) }
    // Many small nested arrays count, too.
    #expect(throws: RESPError.tooMany(limit: 5)) {
      try decode(["*2\r\n*3\r\n:1\r\n:1\r\n:1\r\n*3\r\n:1\r\n"], limits: limits)
    }
    // Announced data that doesn't arrive takes no memory.
    #expect(try decode(["$67108864\r\nx", "*1000000\r\n"], ends: false) == [])
  }

  @Test func `without a limit on strings, an impossible length is refused`() throws {
    var limits = RESPDecoder.Limits()
    limits.stringBytes = .max
    #expect(throws: RESPError.tooLong(limit: .max)) { try decode(["$9223372036854775807\r\n"], limits: limits) }
  }

  @Test func `a map's keys that have the same characters but different bytes are different keys`() throws {
    let map = try decode(["%2\r\n$2\r\n\u{E9}\r\n:1\r\n$3\r\ne\u{301}\r\n:2\r\n"])[0]
    #expect(map["\u{E9}"] == .integer(1))
    #expect(map["e\u{301}"] == .integer(2))
  }

  @Test func `random bytes and damaged replies never crash the decoder`() throws {
    var random = SystemRandomNumberGenerator()
    let good = Array(Self.everything.utf8)
    for round in 0..<2000 {
      var bytes = good
      if round % 2 == 0 {
        for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...127) }
      } else {
        bytes = (0..<64).map { _ in Array("+-:$*_,#!=(%~>|\r\n0123456789?a".utf8).randomElement()! }
      }
      let cut = Int.random(in: 0...bytes.count)
      _ = try? decode([Chunk(bytes[..<cut]), Chunk(bytes[cut...])])
    }
  }

  @Test func `a command is encoded as an array of bulk strings`() {
    let command = RedisCommand("SET", "k\u{e9}", 12, RedisArgument(Chunk([0, 13, 10])), "12345678901")
    let expected = "*5\r\n$3\r\nSET\r\n$3\r\nk\u{e9}\r\n$2\r\n12\r\n$3\r\n\0\r\n\r\n$11\r\n12345678901\r\n"
    #expect(command.encoded == Array(expected.utf8))
  }

  @Test(arguments: [0, 7, 10, 99, 100, -1, -10, .max, .min]) func `integer arguments are sent as decimal digits`(
    _ number: Int
  ) {
    let text = "\(number)"
    let expected = "*3\r\n$1\r\nX\r\n$\(text.utf8.count)\r\n\(text)\r\n$0\r\n\r\n"
    #expect(RedisCommand("X", RedisArgument(number), "").encoded == Array(expected.utf8))
  }

  @Test func `many arguments and long ones are sent completely`() {
    let long = String(repeating: "\u{e9}", count: 70_000)
    let command = RedisCommand("X", (0..<120).map { _ in RedisArgument(long) })
    let one = "$140000\r\n\(long)\r\n"
    #expect(command.encoded == Array(("*121\r\n$1\r\nX\r\n" + String(repeating: one, count: 120)).utf8))
  }

  @Test func `a refusal's kind is determined by the start of its message`() {
    #expect(RedisRefusal("READONLY You can't write against a read only replica.").kind == .readOnly)
    #expect(RedisRefusal("OOM command not allowed when used memory > 'maxmemory'.").kind == .outOfMemory)
    #expect(RedisRefusal("NOAUTH Authentication required.").kind == .passwordWanted)
    #expect(RedisRefusal("WRONGPASS invalid username-password pair").kind == .wrongPassword)
    #expect(RedisRefusal("ERR invalid password").kind == .wrongPassword)
    #expect(RedisRefusal("ERR DB index is out of range").kind == .wrongDatabase)
    #expect(RedisRefusal("MOVED 3999 127.0.0.1:6381").kind == .cluster)
    #expect(RedisRefusal("ERR unknown command").kind == .other)
    #expect(RedisRefusal("something odd") == RedisRefusal("ERR something odd"))
  }
}
