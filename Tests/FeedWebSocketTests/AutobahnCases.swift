/// The cases of the Autobahn test suite up to category 7, and smaller versions of 9 and 10, as data: written from RFC
/// 6455 and the descriptions of the cases. Each is run against both sides. 12 and 13 are in `CompressionCasesTests`.
struct AutobahnCase: CustomStringConvertible {
  enum Step {
    case frame(UInt8, [UInt8])
    case close(Int?, [UInt8])
  }

  let id: String
  let steps: [Step]
  /// The replies of our echo, including the close frame.
  let expected: [String]
  /// The number of bytes that are sent at a time.
  var chop: Int?

  var description: String { id }

  /// Closes with 1000 after an echo.
  init(_ id: String, _ steps: [Step], echoes: [String], chop: Int? = nil) {
    self.id = id
    self.steps = steps + [.close(1000, [])]
    expected = echoes + ["close 1000"]
    self.chop = chop
  }

  init(_ id: String, _ steps: [Step], fails code: Int, after echoes: [String] = [], chop: Int? = nil) {
    self.id = id
    self.steps = steps
    expected = echoes + ["close \(code)"]
    self.chop = chop
  }

  init(_ id: String, closing steps: [Step], _ expected: [String]) {
    self.id = id
    self.steps = steps
    self.expected = expected
  }
}

extension AutobahnCase {
  static var all: [AutobahnCase] { framing + pings + bits + opcodes + fragments + texts + closing + large }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
  private static func stars(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "*"), count: count) }
  private static func echoed(_ kind: String, _ count: Int, _ letter: Character) -> String {
    count == 0 ? kind : count <= 130 ? kind + " " + String(repeating: letter, count: count) : "\(kind) \(count) bytes"
  }

  private static var framing: [AutobahnCase] {
    let counts = [0, 125, 126, 127, 128, 65_535, 65_536, 65_536]
    return counts.enumerated().flatMap { index, count in
      let chop = index == 7 ? 997 : nil
      let bytes = [UInt8](repeating: 0xFE, count: count)
      return [
        AutobahnCase(
          "1.1.\(index + 1)", [.frame(0x81, stars(count))], echoes: [echoed("text", count, "*")], chop: chop),
        AutobahnCase(
          "1.2.\(index + 1)", [.frame(0x82, bytes)], echoes: [count == 0 ? "binary" : "binary \(count) bytes"],
          chop: chop),
      ]
    }
  }

  private static var pings: [AutobahnCase] {
    let long = [UInt8](repeating: 0xFE, count: 125)
    let hello = text("Hello, world!")
    let odd: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]
    let many = (0..<10).map { Step.frame(0x89, text("payload-\($0)")) }
    return [
      AutobahnCase("2.1", [.frame(0x89, [])], echoes: ["pong"]),
      AutobahnCase("2.2", [.frame(0x89, hello)], echoes: ["pong Hello, world!"]),
      AutobahnCase("2.3", [.frame(0x89, odd)], echoes: ["pong 8 bytes"]),
      AutobahnCase("2.4", [.frame(0x89, long)], echoes: ["pong 125 bytes"]),
      AutobahnCase("2.5", [.frame(0x89, long + [0xFE])], fails: 1002),
      AutobahnCase("2.6", [.frame(0x89, long)], echoes: ["pong 125 bytes"], chop: 1),
      AutobahnCase("2.7", [.frame(0x8A, [])], echoes: []),
      AutobahnCase("2.8", [.frame(0x8A, text("unsolicited"))], echoes: []),
      AutobahnCase("2.9", [.frame(0x8A, text("unsolicited")), .frame(0x89, text("ping"))], echoes: ["pong ping"]),
      AutobahnCase("2.10", many, echoes: (0..<10).map { "pong payload-\($0)" }),
      AutobahnCase("2.11", many, echoes: (0..<10).map { "pong payload-\($0)" }, chop: 1),
    ]
  }

  private static var bits: [AutobahnCase] {
    let hello = text("Hello, world!")
    let echo = ["text Hello, world!"]
    let ping = Step.frame(0x89, [])
    return [
      AutobahnCase("3.1", [.frame(0x91, hello)], fails: 1002),
      AutobahnCase("3.2", [.frame(0x81, hello), .frame(0xA1, hello), ping], fails: 1002, after: echo),
      AutobahnCase("3.3", [.frame(0x81, hello), .frame(0xB1, hello), ping], fails: 1002, after: echo),
      AutobahnCase("3.4", [.frame(0x81, hello), .frame(0xC1, hello), ping], fails: 1002, after: echo, chop: 1),
      AutobahnCase("3.5", [.frame(0xD2, hello)], fails: 1002),
      AutobahnCase("3.6", [.frame(0xE9, hello)], fails: 1002),
      AutobahnCase("3.7", [.frame(0xF8, hello)], fails: 1002),
    ]
  }

  private static var opcodes: [AutobahnCase] {
    let hello = Step.frame(0x81, text("Hello, world!"))
    return [(3, 7), (11, 15)].enumerated().flatMap { group, range in
      (range.0...range.1).enumerated().map { index, opcode in
        let id = "4.\(group + 1).\(index + 1)"
        let payload = index == 1 || index == 4 ? text("reserved opcode payload") : []
        let bad = Step.frame(0x80 | UInt8(opcode), payload)
        return index < 2
          ? AutobahnCase(id, [bad], fails: 1002)
          : AutobahnCase(
            id, [hello, bad, .frame(0x89, [])], fails: 1002, after: ["text Hello, world!"],
            chop: index == 4 ? 1 : nil)
      }
    }
  }

  private static var fragments: [AutobahnCase] {
    let (one, two) = (text("fragment1"), text("fragment2"))
    let (ping, pong) = (Step.frame(0x89, text("ping payload")), "pong ping payload")
    let parts: [Step] = [.frame(0x01, one), .frame(0x80, two)]
    let whole = "text fragment1fragment2"
    let five: [Step] = [
      .frame(0x01, one), .frame(0x00, two), .frame(0x89, text("pongme 1!")), .frame(0x00, text("fragment3")),
      .frame(0x00, text("fragment4")), .frame(0x89, text("pongme 2!")), .frame(0x80, text("fragment5")),
    ]
    let fiveEchoes = [
      "pong pongme 1!", "pong pongme 2!", "text fragment1fragment2fragment3fragment4fragment5",
    ]
    let stray: [Step] = [.frame(0x80, text("stray")), .frame(0x81, text("Hello, world!"))]
    let loose: [Step] = [.frame(0x00, text("stray")), .frame(0x81, text("Hello, world!"))]
    let again: [Step] = [.frame(0x00, one), .frame(0x80, two), .frame(0x01, one), .frame(0x80, two)]
    return [
      AutobahnCase("5.1", [.frame(0x09, one), .frame(0x80, two)], fails: 1002),
      AutobahnCase("5.2", [.frame(0x0A, one), .frame(0x80, two)], fails: 1002),
      AutobahnCase("5.3", parts, echoes: [whole]),
      AutobahnCase("5.4", parts, echoes: [whole]),
      AutobahnCase("5.5", parts, echoes: [whole], chop: 1),
      AutobahnCase("5.6", [parts[0], ping, parts[1]], echoes: [pong, whole]),
      AutobahnCase("5.7", [parts[0], ping, parts[1]], echoes: [pong, whole]),
      AutobahnCase("5.8", [parts[0], ping, parts[1]], echoes: [pong, whole], chop: 1),
      AutobahnCase("5.9", stray, fails: 1002),
      AutobahnCase("5.10", stray, fails: 1002),
      AutobahnCase("5.11", stray, fails: 1002, chop: 1),
      AutobahnCase("5.12", loose, fails: 1002),
      AutobahnCase("5.13", loose, fails: 1002),
      AutobahnCase("5.14", loose, fails: 1002, chop: 1),
      AutobahnCase("5.15", parts + again, fails: 1002, after: [whole]),
      AutobahnCase("5.16", again, fails: 1002),
      AutobahnCase("5.17", [.frame(0x80, one), .frame(0x01, one), .frame(0x80, two)], fails: 1002),
      AutobahnCase("5.18", [.frame(0x01, one), .frame(0x81, two)], fails: 1002),
      AutobahnCase("5.19", five, echoes: fiveEchoes),
      AutobahnCase("5.20", five, echoes: fiveEchoes, chop: 1),
    ]
  }

  private static var large: [AutobahnCase] {
    let count = 1 << 18
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: count)
    let pieces = stride(from: 0, to: count, by: 4096).map { start in
      Step.frame((start == 0 ? 1 : 0) | (start + 4096 == count ? 0x80 : 0), Array(bytes[start..<start + 4096]))
    }
    return [
      AutobahnCase("9.1", [.frame(0x81, bytes)], echoes: ["text \(count) bytes"]),
      AutobahnCase("9.2", [.frame(0x82, bytes)], echoes: ["binary \(count) bytes"]),
      AutobahnCase("9.3", pieces, echoes: ["text \(count) bytes"]),
      AutobahnCase("9.5", [.frame(0x81, bytes)], echoes: ["text \(count) bytes"], chop: 2048),
      AutobahnCase(
        "9.7", (0..<200).map { _ in .frame(0x81, stars(16)) },
        echoes: (0..<200).map { _ in "text ****************" }),
      AutobahnCase("10.1.1", [.frame(0x81, stars(65_536))], echoes: ["text 65536 bytes"]),
    ]
  }
}
