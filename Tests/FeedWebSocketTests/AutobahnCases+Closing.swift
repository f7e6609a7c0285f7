extension AutobahnCase {
  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Category 6: valid and invalid UTF-8 in one frame, in fragments, and byte by byte.
  static var texts: [AutobahnCase] {
    let greek: [UInt8] = [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5]
    let surrogate: [UInt8] = [0xED, 0xA0, 0x80]
    let tail = text("edited")
    let mixed = text("Hello-µ@ßöäüàá-UTF-8!!")
    let shown = "text Hello-µ@ßöäüàá-UTF-8!!"
    var cases = [
      AutobahnCase("6.1.1", [.frame(0x81, [])], echoes: ["text"]),
      AutobahnCase("6.1.2", [.frame(0x01, []), .frame(0x00, []), .frame(0x80, [])], echoes: ["text"]),
      AutobahnCase(
        "6.1.3", [.frame(0x01, []), .frame(0x00, text("middle")), .frame(0x80, [])], echoes: ["text middle"]),
      AutobahnCase("6.2.1", [.frame(0x81, mixed)], echoes: [shown]),
      AutobahnCase("6.2.2", [.frame(0x01, Array(mixed[..<12])), .frame(0x80, Array(mixed[12...]))], echoes: [shown]),
      AutobahnCase("6.2.3", single(mixed), echoes: [shown]),
      AutobahnCase("6.2.4", single(greek), echoes: ["text κόσμε"]),
      AutobahnCase("6.3.1", [.frame(0x81, greek + surrogate + tail)], fails: 1007),
      AutobahnCase("6.3.2", single(greek + surrogate + tail), fails: 1007),
      // Fail fast: the message never ends.
      AutobahnCase("6.4.1", [.frame(0x01, greek), .frame(0x00, [0xF4, 0x90, 0x80, 0x80])], fails: 1007),
      AutobahnCase("6.4.2", [.frame(0x01, greek + [0xF4]), .frame(0x00, [0x90])], fails: 1007),
    ]
    let valid: [(String, [[UInt8]])] = [
      ("6.5", ["hello$world", "hello¢world", "hello€world", "hello𤭢world"].map(text) + [greek]),
      ("6.7", [[0x00], [0xC2, 0x80], [0xE0, 0xA0, 0x80], [0xF0, 0x90, 0x80, 0x80]]),
      ("6.9", [[0x7F], [0xDF, 0xBF], [0xEF, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF]]),
      ("6.11", [[0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBD], [0xF4, 0x8F, 0xBF, 0xBF]]),
      // Noncharacters, which are valid text nevertheless.
      ("6.22", (0...16).flatMap { plane in [0xFFFE, 0xFFFF].map { text(String(Unicode.Scalar(plane << 16 | $0)!)) } }),
      ("6.23", (0xFFF9...0xFFFF).map { text(String(Unicode.Scalar($0)!)) }),
    ]
    for (group, list) in valid {
      for (index, bytes) in list.enumerated() {
        let shown = "text " + String(decoding: bytes, as: UTF8.self)
        cases.append(AutobahnCase("\(group).\(index + 1)", [.frame(0x81, bytes)], echoes: [shown]))
      }
    }
    for count in 1...greek.count {
      let prefix = Array(greek.prefix(count))
      let isText = String(validating: prefix, as: UTF8.self) != nil
      let step = [Step.frame(0x81, prefix)]
      let shown = "text " + String(decoding: prefix, as: UTF8.self)
      cases.append(
        isText
          ? AutobahnCase("6.6.\(count)", step, echoes: [shown]) : AutobahnCase("6.6.\(count)", step, fails: 1007))
    }
    for (group, list) in invalid {
      for (index, bytes) in list.enumerated() {
        cases.append(AutobahnCase("\(group).\(index + 1)", [.frame(0x81, bytes)], fails: 1007))
      }
    }
    return cases
  }

  /// A message with one byte per fragment.
  private static func single(_ bytes: [UInt8]) -> [Step] {
    bytes.indices.map { .frame(($0 == 0 ? 1 : 0) | ($0 == bytes.count - 1 ? 0x80 : 0), [bytes[$0]]) }
  }

  private static let invalid: [(String, [[UInt8]])] = [
    ("6.8", [[0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]]),
    ("6.10", [[0xF7, 0xBF, 0xBF, 0xBF], [0xFB, 0xBF, 0xBF, 0xBF, 0xBF], [0xFD, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF]]),
    ("6.11.5", [[0xF4, 0x90, 0x80, 0x80]]),
    ("6.12", (1...6).map { [UInt8]([0x80, 0xBF, 0x80, 0xBF, 0x80, 0xBF].prefix($0)) } + [[0xBF], Array(0x80...0xBE)]),
    (
      "6.13",
      [(0xC0, 0xDF), (0xE0, 0xEF), (0xF0, 0xF7), (0xF8, 0xFB), (0xFC, 0xFD)].map { range in
        (UInt8(range.0)...UInt8(range.1)).flatMap { [$0, 0x20] }
      }
    ),
    ("6.14", lonely), ("6.15", [lonely.flatMap { $0 }]), ("6.16", [[0xFE], [0xFF], [0xFE, 0xFE, 0xFF, 0xFF]]),
    (
      "6.17",
      [
        [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF], [0xF8, 0x80, 0x80, 0x80, 0xAF],
        [0xFC, 0x80, 0x80, 0x80, 0x80, 0xAF],
      ]
    ),
    (
      "6.18",
      [
        [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF8, 0x87, 0xBF, 0xBF, 0xBF],
        [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF],
      ]
    ),
    (
      "6.19",
      [
        [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF8, 0x80, 0x80, 0x80, 0x80],
        [0xFC, 0x80, 0x80, 0x80, 0x80, 0x80],
      ]
    ),
    ("6.20", surrogates.map { [0xED] + $0 }),
    ("6.21", surrogates.dropLast().map { [0xED] + $0 + [0xED, 0xB0, 0x80] } + [[0xED, 0xAF, 0xBF, 0xED, 0xBF, 0xBF]]),
  ]
  private static let lonely: [[UInt8]] = [
    [0xC0], [0xE0, 0x80], [0xF0, 0x80, 0x80], [0xF8, 0x80, 0x80, 0x80], [0xFC, 0x80, 0x80, 0x80, 0x80], [0xDF],
    [0xEF, 0xBF], [0xF7, 0xBF, 0xBF], [0xFB, 0xBF, 0xBF, 0xBF], [0xFD, 0xBF, 0xBF, 0xBF, 0xBF],
  ]
  private static let surrogates: [[UInt8]] = [
    [0xA0, 0x80], [0xAD, 0xBF], [0xAE, 0x80], [0xAF, 0xBF], [0xB0, 0x80], [0xBE, 0x80], [0xBF, 0xBF],
  ]

  /// Category 7: closing a socket.
  static var closing: [AutobahnCase] {
    let hello = Step.frame(0x81, text("Hello World!"))
    let closed = ["close 1000"]
    let long = [UInt8](repeating: UInt8(ascii: "*"), count: 123)
    var cases = [
      AutobahnCase("7.1.1", [hello], echoes: ["text Hello World!"]),
      AutobahnCase("7.1.2", closing: [.close(1000, []), .close(1000, [])], closed),
      AutobahnCase("7.1.3", closing: [.close(1000, []), .frame(0x89, [])], closed),
      AutobahnCase("7.1.4", closing: [.close(1000, []), hello], closed),
      AutobahnCase(
        "7.1.5", closing: [.frame(0x01, text("fragment1")), .close(1000, []), .frame(0x80, text("fragment2"))], closed),
      AutobahnCase(
        "7.1.6",
        closing: [
          .frame(0x81, [UInt8](repeating: 0x42, count: 1 << 18)), hello, .close(1000, []), .frame(0x89, []),
        ],
        ["text 262144 bytes", "text Hello World!", "close 1000"]),
      AutobahnCase("7.3.1", closing: [.close(nil, [])], ["close"]),
      AutobahnCase("7.3.2", closing: [.frame(0x88, [0x61])], ["close 1002"]),
      AutobahnCase("7.3.3", closing: [.close(1000, [])], closed),
      AutobahnCase("7.3.4", closing: [.close(1000, text("Hello World!"))], closed),
      AutobahnCase("7.3.5", closing: [.close(1000, long)], closed),
      AutobahnCase("7.3.6", closing: [.close(1000, long + [0x2A])], ["close 1002"]),
      AutobahnCase("7.5.1", closing: [.close(1000, [0xCE, 0xBA, 0xED, 0xA0, 0x80])], ["close 1007"]),
    ]
    for (index, code) in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].enumerated() {
      cases.append(AutobahnCase("7.7.\(index + 1)", closing: [.close(code, [])], ["close \(code)"]))
    }
    for (index, code) in [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999].enumerated() {
      cases.append(AutobahnCase("7.9.\(index + 1)", closing: [.close(code, [])], ["close 1002"]))
    }
    for (index, code) in [5000, 65_535].enumerated() {
      cases.append(AutobahnCase("7.13.\(index + 1)", closing: [.close(code, [])], ["close 1002"]))
    }
    return cases
  }
}
